// Values that options and variables cannot have: times, shapes and shares are read whole, a variable as its flag.
// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <nlohmann/json.hpp>

#include "cli/tool.hpp"

namespace rung {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;
using testing::Not;

TEST(Times, AreReadWholeWithTheirUnit) {
  Tool tool;
  for (const char* flag : {"--budget", "--wait-quiet"})
    for (const char* text : {"0", "0s", "inf", "1h", "1 s", "s", "5mm", "60s1", " 60s", "1e999s"})
      expect_error(tool.run({"climb", bert_tiny(), flag, text}), 2,
                   fmt::format("{}: got '{}', wanted a time such as 60s or 5m", flag, text));
  for (const char* text : {"0.99", "0.99s", "0.0166m", "999.9ms"})
    expect_error(tool.run({"climb", bert_tiny(), "--budget", text}), 2, "wanted at least 1s");
}

TEST(Shapes, AreReadWhole) {
  Tool tool;
  for (const char* text : {"=1,9", "input_ids=1,x", "input_ids=1;9", "input_ids=1,,9", "input_ids=-1,9",
                           "input_ids=1.5,9", "input_ids=1,9223372036854775808", "input_ids=1,1,1,1,1,1,1,1,1"})
    expect_error(tool.run({"inspect", bert_tiny(), "--shape", text}), 2,
                 fmt::format("--shape: got '{}', wanted NAME=1,128", text));
  const Ran most = tool.run({"inspect", bert_tiny(), "--shape", "input_ids=1,1,1,1,1,1,1,1"});
  EXPECT_NE(most.exit_code, 0);
  EXPECT_THAT(error_line(most), Not(HasSubstr("wanted NAME="))) << "what is wrong with it is not its rank alone";
}

// Values that only a variable's own reader refuses: every row of the table that has a variable must be here.
TEST(Variables, AreReadAsTheirFlags) {
  Tool tool;
  std::filesystem::create_directory(tool / "folder");
  struct Held {
    std::string value, said;
  };
  const std::map<std::string, Held> held{{"RUNG_DEVICE", {"tpu", "--device: got 'tpu'"}},
                                         {"RUNG_THREADS", {"2", "got --threads 2"}},
                                         {"RUNG_LOG", {"5", "graph \"bert\""}},
                                         {"RUNG_BUDGET", {"soon", "--budget: got 'soon'"}},
                                         {"RUNG_DATABASE", {tool / "folder", "folder': got a directory"}}};
  const std::string recipe = tool.folder().write("recipe.json", R"({"version":1,"threads":1})");
  for (const Json& row : Json::parse(tool.run({"options", "--json"}).out).at("options")) {
    const auto variable = row.at("environment").get<std::string>();
    if (variable.empty()) continue;
    ASSERT_TRUE(held.contains(variable)) << variable;
    setenv(variable.c_str(), held.at(variable).value.c_str(), 1);
    const bool builds = variable == "RUNG_THREADS" || variable == "RUNG_LOG";
    const Ran ran = builds ? tool.run({"build", bert_tiny(), "--recipe", recipe, "--out", tool / "plan.rung"})
                           : tool.run({"climb", bert_tiny(), "--shape", kShape, "--out", tool / "out"});
    unsetenv(variable.c_str());
    EXPECT_THAT(ran.err, HasSubstr(held.at(variable).said)) << variable;
  }
}

// A flag is nearer than a variable.
TEST(Variables, GiveWayToTheirFlags) {
  Tool tool;
  setenv("RUNG_DEVICE", "tpu", 1);
  const Ran ran = tool.run({"explain", bert_tiny(), "--shape", kShape, "--device", "cpu"});
  unsetenv("RUNG_DEVICE");
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
}

}  // namespace
}  // namespace rung
