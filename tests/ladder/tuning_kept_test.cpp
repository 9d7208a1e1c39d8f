// What a climb says of the tuning that it did: what is kept is in the file, what is lost is said.
// SPDX-License-Identifier: Apache-2.0
#include <mutex>
#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "base/log.hpp"
#include "base/open_file.hpp"
#include "support.hpp"
#include "support/pace.hpp"

namespace rung {
namespace {

using testing::HasSubstr;

class TuningKept : public testing::Test {
 protected:
  Subject subject = tiny_bert();
  TemporaryDirectory directory;
  std::vector<std::string> said;
  std::string interrupt_at;  // where progress begins with this
  bool reached = false;

  TuningKept() {
    set_log_sink([this](int, std::string_view line) { said.emplace_back(line); }, 0);
  }
  ~TuningKept() override { set_log_sink({}, 0); }

  std::string error_of_climb(const std::string& database) {
    ClimbOptions options{.budget_s = 5 * kPace, .inputs = {sample_inputs(subject.model, 1)}, .database_path = database};
    options.progress = [&](const std::string& now, double) { reached = reached || now.starts_with(interrupt_at); };
    options.interrupted = [&] { return reached; };
    auto outcome = climb(subject, options);
    return outcome ? "no error" : outcome.error().message;
  }
};

TEST_F(TuningKept, NamesNoFileBeforeAnythingIsTuned) {
  for (const char* stage : {"reference", "baseline"}) {
    interrupt_at = stage;
    reached = false;
    std::string error = error_of_climb(directory / "tuning.json");
    EXPECT_THAT(error, HasSubstr("interrupted; nothing"));
    EXPECT_EQ(error.find(directory.path()), error.npos) << error;
  }
  EXPECT_FALSE(std::filesystem::exists(directory / "tuning.json"));
}

TEST_F(TuningKept, CountsTheProblemsThatAreInTheFile) {
  interrupt_at = "tuning 2/";
  std::string path = directory / "tuning.json", error = error_of_climb(path);
  auto json = read_json_file(path);
  ASSERT_TRUE(json) << json.error().message;
  size_t kept = json->at("devices").begin()->begin()->size();
  EXPECT_GT(kept, 0u);
  EXPECT_EQ(error, fmt::format("interrupted; {0} of {0} tuned problems are kept in {1}", kept, path));
  EXPECT_THAT(said, testing::IsEmpty());
}

TEST_F(TuningKept, SaysOnceThatTheDatabaseCannotBeWritten) {
  interrupt_at = "projection";
  std::string path = directory.write("file", "") + "/tuning.json", error = error_of_climb(path);
  EXPECT_THAT(error, HasSubstr("interrupted; 0 of "));
  EXPECT_THAT(error, HasSubstr("tuned problems are kept in " + path + ": '" + path + "': cannot lock"));
  ASSERT_EQ(said.size(), 1u);
  EXPECT_THAT(said[0], HasSubstr("what was tuned is not saved: '" + path));
}

TEST_F(TuningKept, IsSaidInTheResultToo) {
  std::string path = directory.write("file", "") + "/tuning.json";
  ClimbOptions options{.budget_s = 1 * kPace, .inputs = {sample_inputs(subject.model, 1)}, .database_path = path};
  auto outcome = climb(subject, options);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_THAT(outcome->result.environment["tuning database"], HasSubstr("not saved: '" + path));
}

}  // namespace
}  // namespace rung
