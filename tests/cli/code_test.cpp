// Plans that hold the code of their generated kernels, on machines with and without a compiler.
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/tool.hpp"
#include "support/onnx_file.hpp"

namespace rung {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

// A function that has no kernel of the build on GPUs, of two shapes.
std::string model_of_two_kernels() {
  using namespace onnx_file;
  const Messages few{fixed(4), fixed(9)}, many{fixed(50), fixed(8)};
  return model({.nodes = {node({"Tan", {"x"}, {"y"}}), node({"Tan", {"u"}, {"v"}})},
                .inputs = {value("x", kFloat, few), value("u", kFloat, many)},
                .outputs = {value("y", kFloat, few), value("v", kFloat, many)}});
}

class CodeOfAPlan : public testing::Test {
 protected:
  Tool tool;
  const std::string model = tool.folder().write("model.onnx", model_of_two_kernels()), plan = tool / "plan.rung";

  void SetUp() override {
    const Ran built = tool.run({"build", model, "--device", "emu:gfx942", "--out", plan});
    for (const char* lack : {"no GPU kernels", "no /usr/bin/clang++-22"})
      if (built.err.find(lack) != std::string::npos) GTEST_SKIP() << built.err;
    ASSERT_EQ(built.exit_code, 0) << built.err;
  }
  void TearDown() override { unsetenv("RUNG_CLANG"); }
  // From now on the tool runs as on another machine, where nothing was compiled and nothing compiles.
  void move_to_another_machine() {
    std::filesystem::remove_all(tool / "cache");
    setenv("RUNG_CLANG", "/no/clang", 1);
  }
  Json object(std::vector<std::string> arguments) {
    arguments.emplace_back("--json");
    const Ran ran = tool.run(arguments);
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    return Json::parse(ran.out, nullptr, false);
  }
  Json replayed() { return object({"verify", plan, "--replays", "2"}); }
};

TEST_F(CodeOfAPlan, IsListedAndPrinted) {
  move_to_another_machine();
  const Json code = object({"inspect", plan}).at("code");
  ASSERT_EQ(code.size(), 2u);
  for (const Json& each : code) {
    EXPECT_EQ(each.at("target"), "gfx942");
    EXPECT_THAT(each.at("compiler").get<std::string>(), HasSubstr("clang version"));
    EXPECT_GT(each.at("image_bytes"), 1000);
    const Ran printed = tool.run({"inspect", plan, "--code", each.at("name")});
    EXPECT_EQ(printed.exit_code, 0) << printed.err;
    EXPECT_EQ(printed.out.size(), each.at("source_bytes"));
    EXPECT_THAT(printed.out, HasSubstr("RUNG_KERNEL"));
    EXPECT_EQ(object({"inspect", plan, "--code", each.at("name")}).at("source"), printed.out);
  }
  expect_error(tool.run({"inspect", plan, "--code", "none"}), 1, "holds no code 'none'");
  expect_error(tool.run({"inspect", model, "--code", "none"}), 2, "is no plan: --code prints code of a plan");
}

TEST_F(CodeOfAPlan, HasNoThreadsByARecipeForProcessors) {
  const std::string recipe = tool.folder().write("recipe.json", R"({"version": 1, "threads": 4})");
  const std::string own = tool / "own.rung";
  const Ran built = tool.run({"build", model, "--device", "emu:gfx942", "--recipe", recipe, "--out", own});
  ASSERT_EQ(built.exit_code, 0) << built.err;
  EXPECT_EQ(object({"inspect", own}).at("code").size(), 2u);
}

TEST_F(CodeOfAPlan, IsRefusedWithoutTrustAndCompiler) {
  move_to_another_machine();
  const std::string reason =
      "nothing here compiles its kernel (no /no/clang), and the plan's code runs if you trust who made the plan: "
      "--trust-code (trust_code in Python and C)";
  expect_error(tool.run({"run", plan}), 1, reason);
  expect_error(tool.run({"bench", plan}), 1, reason);
}

TEST_F(CodeOfAPlan, RunsWithTrustWhereNothingCompiles) {
  move_to_another_machine();
  EXPECT_TRUE(object({"verify", plan, "--replays", "2", "--trust-code"}).at("passed"));
  EXPECT_GT(object({"bench", plan, "--runs", "2", "--trust-code"}).at("kernels"), 0);
  EXPECT_FALSE(object({"profile", plan, "--trust-code"}).empty());
  EXPECT_EQ(object({"run", plan, "--stepwise", "--trust-code"}).at("ops"), 2);
  EXPECT_FALSE(std::filesystem::exists(tool / "cache/generated")) << "code of a file is not kept";
  expect_error(tool.run({"run", plan}), 1, "--trust-code");
}

TEST_F(CodeOfAPlan, ComparesWithTheModelThatItIsOf) {
  const Json both = object({"compare", plan, plan, "--trust-code", "--budget", "1s"});
  EXPECT_TRUE(both.contains("verdict"));
}

TEST_F(CodeOfAPlan, RunsAsThisMachineCompiledIt) {
  EXPECT_TRUE(replayed().at("passed"));
  setenv("RUNG_CLANG", "/no/clang", 1);
  EXPECT_TRUE(replayed().at("passed"));
}

}  // namespace
}  // namespace rung
