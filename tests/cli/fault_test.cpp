// The tool on a device that faults: its error names the op, and it leaves no output.
// SPDX-License-Identifier: Apache-2.0
#include "cli/tool.hpp"
#include "support/fake_device.hpp"

namespace rung {
namespace {

using testing::HasSubstr;
using testing::Not;

class DeviceFault : public OnAFakeDevice {
 protected:
  void TearDown() override {
    OnAFakeDevice::TearDown();
    unsetenv("RUNG_FAKE_FAULT");
  }
  // Runs `rung COMMAND` on the little model, with `fault` to come.
  Ran run(const char* fault, const std::string& command, const std::vector<std::string>& more = {}) {
    setenv("RUNG_FAKE_FAULT", fault, 1);
    std::vector<std::string> arguments{command, bert_tiny(), "--device", "cuda", "--shape", kShape};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return tool.run(arguments);
  }
  Tool tool;
  const std::string inputs = bert_tiny() + "/inputs.npz";
};

constexpr const char* kNamed = "; ops run one by one: device fault in op ";

TEST_F(DeviceFault, NamesItsOpAndLeavesTheOldOutputs) {
  std::string file = tool.folder().write("outputs.npz", "what was here before");
  Ran ran = run("norm", "run", {"--inputs", inputs, "--outputs", file});
  expect_error(ran, 1, "an illegal memory access was encountered (700)" + std::string(kNamed));
  EXPECT_THAT(error_line(ran), HasSubstr("(layer_norm) on "));
  EXPECT_EQ(read_text_file(file).value_or(""), "what was here before");
}

TEST_F(DeviceFault, IsReportedWhereItDoesNotRecur) {
  std::string file = tool / "outputs.npz";
  Ran ran = run("graph", "run", {"--inputs", inputs, "--outputs", file});
  expect_error(ran, 1, "; the fault did not come again when its ops ran one by one");
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST_F(DeviceFault, EndsEveryCommandThatRunsPlans) {
  for (const char* command : {"bench", "profile", "verify"})
    expect_error(run("norm", command, {"--inputs", inputs}), 1, kNamed);
}

TEST_F(DeviceFault, EndsAClimbNamingTheOpWithoutFiles) {
  expect_error(run("norm", "climb", {"--budget", "20s", "--out", tool / "out"}), 1, kNamed);
  EXPECT_TRUE(is_empty(tool / "out"));
}

TEST_F(DeviceFault, IsLookedForOnRequest) {
  Ran sound = run("", "run", {"--stepwise"});
  EXPECT_EQ(sound.exit_code, 0) << sound.err;
  EXPECT_THAT(sound.out, HasSubstr("no fault: "));
  Ran ran = run("norm", "run", {"--stepwise"});
  expect_error(ran, 1, "rung: error: device fault in op ");
  EXPECT_THAT(error_line(ran), Not(HasSubstr("one by one"))) << "it does not start another process";
}

TEST(Stepwise, RunsOnAProcessorToo) {
  Tool tool;
  Ran ran = tool.run({"run", bert_tiny(), "--shape", kShape, "--stepwise", "--json"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("\"ops\":"));
  std::string file = tool / "outputs.npz";
  expect_error(tool.run({"run", bert_tiny(), "--stepwise", "--outputs", file}), 2, "--stepwise gives no outputs");
  EXPECT_FALSE(std::filesystem::exists(file));
}

}  // namespace
}  // namespace rung
