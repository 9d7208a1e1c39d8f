// Where the tool is looked for, by a copy of this program put beside one that stands for it.
// SPDX-License-Identifier: Apache-2.0
#include "base/tool.hpp"

#include <gmock/gmock.h>

#include <filesystem>

#include "base/program.hpp"
#include "support/temporary_directory.hpp"

namespace rung {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// What the copies run.
TEST(Tool, DISABLED_IsToldByThisProgram) {
  if (std::getenv("RUNG_TEST_IS_THE_TOOL")) this_program_is_the_tool();
  auto path = path_of_tool();
  fmt::print(stderr, "{}: {}\n", path ? "found" : name_of(path.error().kind), path ? *path : path.error().message);
}

class ToolPath : public testing::Test {
 protected:
  void SetUp() override {
    unsetenv("RUNG_PROGRAM");
    fs::create_directories(folder_ / "lib/bin");
    fs::create_directories(folder_ / "bin");
    fs::copy_file("/proc/self/exe", folder_ / "lib/program");
  }
  void TearDown() override {
    unsetenv("RUNG_PROGRAM");
    unsetenv("RUNG_TEST_IS_THE_TOOL");
  }
  std::string tool_at(const std::string& place) const {
    std::string path = folder_.write(place, "#!/bin/sh\n");
    fs::permissions(path, fs::perms::owner_all);
    return path;
  }
  std::string told() const {
    auto ended =
        run_program(folder_ / "lib/program",
                    {"--gtest_also_run_disabled_tests", "--gtest_filter=Tool.DISABLED_IsToldByThisProgram"}, 60);
    return ended ? ended->errors : ended.error().message;
  }
  TemporaryDirectory folder_;
};

TEST_F(ToolPath, IsTheFirstPlaceFoundBesideTheLibrary) {
  for (const char* place : {"bin/rung", "lib/bin/rung", "lib/rung"}) {  // each before the one that was there already
    const std::string path = tool_at(place);
    EXPECT_EQ(told(), "found: " + fs::canonical(path).string() + "\n");
  }
}

TEST_F(ToolPath, IsThatOfTheVariableBeforeAnyOther) {
  tool_at("lib/rung");
  const std::string named = tool_at("elsewhere");
  setenv("RUNG_PROGRAM", named.c_str(), 1);
  EXPECT_EQ(told(), "found: " + named + "\n");
}

TEST_F(ToolPath, ThatTheVariableSaysMustBeAProgram) {
  tool_at("lib/rung");
  for (const std::string& wrong : {folder_.write("no_program", "text"), folder_ / "nothing", folder_.path()}) {
    setenv("RUNG_PROGRAM", wrong.c_str(), 1);
    EXPECT_EQ(told(), "file: the tool 'rung': RUNG_PROGRAM names '" + wrong + "', which is not a program\n");
  }
}

TEST_F(ToolPath, ThatThereIsNotNamesThePlaces) {
  folder_.write("lib/rung", "not executable");
  const std::string error = told();
  EXPECT_THAT(error, HasSubstr("file: the tool 'rung' is not at '"));
  for (const char* place : {"/lib/rung'", "/lib/bin/rung'", "/bin/rung'; RUNG_PROGRAM may name it"})
    EXPECT_THAT(error, HasSubstr(place));
}

TEST_F(ToolPath, IsItsOwnWhereItIsTheTool) {
  setenv("RUNG_TEST_IS_THE_TOOL", "1", 1);
  setenv("RUNG_PROGRAM", "/nowhere", 1);
  EXPECT_EQ(told(), "found: " + std::string(kThisProgram) + "\n");
}

}  // namespace
}  // namespace rung
