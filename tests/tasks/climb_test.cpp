// A climb as a library's caller has it: progress, receipts as they are decided, texts, files.
// SPDX-License-Identifier: Apache-2.0
#include "tasks/climb.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "base/atomic_file.hpp"
#include "support/bert_tiny.hpp"
#include "support/pace.hpp"
#include "support/temporary_directory.hpp"

namespace rung::tasks {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

class ClimbTasks : public ::testing::Test {
 protected:
  ClimbTask task{.model = {.path = kBert, .threads = 1, .shapes = {{"input_ids", {1, 9}}}}, .budget_s = 2.0 * kPace};
  TemporaryDirectory folder;

  Error error() const {
    auto outcome = climb_model(task);
    EXPECT_FALSE(outcome);
    return outcome ? Error{} : outcome.error();
  }
};

TEST_F(ClimbTasks, TellAndKeepReceiptsAsTheyAreDecided) {
  std::vector<std::string> decided;
  double last = -1;
  bool advances = true;
  task.decided = [&](const Receipt& receipt) { decided.push_back(receipt.name + ": " + receipt.reason); };
  task.progress = [&](const std::string&, double fraction) { advances &= fraction >= last, last = fraction; };
  auto outcome = climb_model(task);
  ASSERT_TRUE(outcome) << outcome.error().message;
  std::vector<std::string> kept;
  for (const Receipt& receipt : outcome->result.rungs) kept.push_back(receipt.name + ": " + receipt.reason);
  EXPECT_FALSE(kept.empty());
  ASSERT_EQ(decided.size(), kept.size());
  for (size_t i = 0; i < kept.size(); ++i)
    EXPECT_THAT(kept[i], testing::StartsWith(decided[i])) << "what is given up at the end says so behind its reason";
  EXPECT_TRUE(advances);
  EXPECT_GE(last, 0);

  const ClimbTexts texts = texts_of(*outcome);
  const Json report = Json::parse(texts.report), recipe = Json::parse(texts.recipe), trace = Json::parse(texts.trace);
  EXPECT_EQ(report["rungs"].size(), kept.size());
  EXPECT_EQ(texts.report.find('\n'), std::string::npos);
  EXPECT_EQ(recipe["threads"], 1);
  EXPECT_THAT(texts.html, HasSubstr("</html>"));
  EXPECT_THAT(texts.markdown, HasSubstr(kept[0].substr(0, kept[0].find(':'))));

  ASSERT_TRUE(save_climb(*outcome, folder.path()));
  EXPECT_EQ(*read_text_file(folder / "recipe.json"), texts.recipe);
  EXPECT_EQ(Json::parse(*read_text_file(folder / "report.json")), report);
  for (const char* file : {"plan.rung", "report.html", "report.md", "trace.json"})
    EXPECT_TRUE(std::filesystem::exists(folder / file)) << file;
  EXPECT_EQ(save_climb(*outcome, "/proc/nowhere").error().kind, ErrorKind::file);
}

TEST_F(ClimbTasks, EndWhenTheyAreInterrupted) {
  task.interrupted = [] { return true; };
  EXPECT_EQ(error().kind, ErrorKind::interrupted);
}

TEST_F(ClimbTasks, NameTheirOptionsAsTheCallerHasThem) {
  task.skip = {"fusoin"};
  EXPECT_EQ(error().message, "skip: there is no rung 'fusoin'");
  EXPECT_EQ(error().kind, ErrorKind::usage);
  task.skip = {};
  for (double seconds : {0.5, 0.0, -1.0, std::nan("")}) {
    task.budget_s = seconds;
    EXPECT_THAT(error().message, HasSubstr("wanted at least 1 s"));
    EXPECT_EQ(error().kind, ErrorKind::usage);
  }
}

}  // namespace
}  // namespace rung::tasks
