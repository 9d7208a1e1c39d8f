// A climb with a stated error, as its command takes it and what it leaves.
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/tool.hpp"

namespace rung {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

class StatedError : public testing::Test {
 protected:
  Tool tool;
  Ran climb(const std::vector<std::string>& more, const std::string& budget = "12s") {
    std::vector<std::string> arguments{"climb",    bert_tiny(), "--threads", "1",
                                       "--budget", budget,      "--out",     tool / "out"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return tool.run(arguments);
  }
};

TEST_F(StatedError, LeavesARecipeOfEveryMeasuredPlan) {
  const Ran ran = climb({"--error", "0.05", "--cosine", "0.99", "--json"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const Json search = Json::parse(ran.out)["precision_search"];
  if (search["wholes"].empty()) GTEST_SKIP() << "this processor has one type alone that is fast";
  EXPECT_EQ(search["limit_rel_l2"], 0.05);
  EXPECT_EQ(search["limit_cosine"], 0.99);
  EXPECT_TRUE(search["limit_kl"].is_null());
  for (const Json& whole : search["wholes"]) {
    const std::string file = tool / ("out/" + whole["recipe"].get<std::string>());
    const Ran built = tool.run({"build", bert_tiny(), "--recipe", file, "--out", tool / "again.rung"});
    EXPECT_EQ(built.exit_code, 0) << built.err;
  }
  EXPECT_THAT(*read_text_file(tool / "out/report.html"), HasSubstr("<section id='precision'"));
  EXPECT_THAT(*read_text_file(tool / "out/report.md"), HasSubstr("## Precision within the stated error"));
}

TEST_F(StatedError, IsRefusedWhereItCannotBe) {
  for (const char* error : {"0", "-0.1", "1", "nan", "inf"})
    expect_error(climb({"--error", error}), 2, "wanted a relative error above 0 and below 1");
  for (const char* cosine : {"0", "1", "1.5", "nan"})
    expect_error(climb({"--cosine", cosine}), 2, "wanted a cosine above 0 and below 1");
  for (const char* kl : {"0", "-1", "inf", "nan"}) expect_error(climb({"--kl", kl}), 2, "wanted a number above 0");
  expect_error(climb({"--error", "0.02", "--dtype", "bf16"}), 2, "a stated error chooses the type of every part");
  expect_error(climb({"--error", "0.02", "--skip", "precision"}), 2, "a stated error wants this rung");
}

TEST_F(StatedError, OfLogitsWantsAModelThatHasThem) {
  expect_error(climb({"--kl", "0.1"}), 1, "wanted one of the name logits");
}

TEST_F(StatedError, OutOfReachNamesTheLeast) {
  const Ran ran = climb({"--error", "1e-12"});
  EXPECT_NE(ran.exit_code, 0);
  EXPECT_THAT(ran.err, HasSubstr("the stated error is out of reach: relative L2 error"));
}

}  // namespace
}  // namespace rung
