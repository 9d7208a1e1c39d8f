// rung advise on recorded traces: text, a page, a comparison, and one error for what is no trace.
// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/tool.hpp"

namespace rung {
namespace {

using testing::HasSubstr;

std::string trace(std::string_view name) { return fmt::format("{}/traces/{}.json.gz", RUNG_TEST_DATA, name); }

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(Advise, SaysWhereTheStepWentAndWhatHelps) {
  Tool tool;
  const Ran ran = tool.run({"advise", trace("small_eager")});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("NVIDIA H200\n3 steps (ProfilerStep ranges)"));
  EXPECT_THAT(ran.out, HasSubstr("host-bound launch"));
  EXPECT_THAT(ran.out, HasSubstr("1. launch_bound: "));
}

TEST(Advise, WritesPages) {
  Tool tool;
  const Ran ran =
      tool.run({"advise", trace("small_eager"), "--html", tool / "page.html", "--markdown", tool / "page.md"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(text_of(tool / "page.html"), HasSubstr("launch_bound"));
  EXPECT_THAT(text_of(tool / "page.md"), HasSubstr("### launch\\_bound: "));
}

TEST(Advise, ComparesTwoTraces) {
  Tool tool;
  const Ran ran = tool.run({"advise", trace("small_graph"), "--against", trace("small_eager")});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("no longer found: launch_bound"));
  EXPECT_THAT(ran.out, HasSubstr("Gaps by cause"));
}

TEST(Advise, TellsTheDifferenceInEveryForm) {
  Tool tool;
  const Ran ran = tool.run({"advise", trace("small_graph"), "--against", trace("small_eager"), "--json", "--html",
                            tool / "page.html", "--markdown", tool / "page.md"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const auto json = nlohmann::json::parse(ran.out, nullptr, false);
  EXPECT_THAT(json["difference"].dump(), HasSubstr("launch_bound"));
  EXPECT_THAT(text_of(tool / "page.html"), HasSubstr("launch_bound"));
  EXPECT_THAT(text_of(tool / "page.md"), HasSubstr("no longer found: launch\\_bound"));
  EXPECT_FALSE(nlohmann::json::parse(tool.run({"advise", trace("small_graph"), "--json"}).out).contains("difference"));
  expect_error(tool.run({"advise", trace("small_graph"), "--against", tool / "nowhere"}), 1, "nowhere");
}

// The trace numbers its one GPU as agent 2.
TEST(Advise, KnowsACardByItsAgent) {
  Tool tool;
  const Ran ran = tool.run({"advise", trace("other/amd_agent")});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("AMD Instinct MI300X\n"));
  EXPECT_THAT(ran.out, HasSubstr("slow_shape: "));
}

TEST(Advise, TakesTheCardThatItIsTold) {
  Tool tool;
  const Ran ran = tool.run({"advise", trace("other/amd_agent"), "--gpu", "mi325x"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("AMD Instinct MI325X\n"));
  expect_error(tool.run({"advise", trace("other/amd_agent"), "--gpu", "mi999"}), 2, "gpu: got 'mi999', wanted one of");
}

TEST(Advise, RefusesWhatIsNoTrace) {
  Tool tool;
  expect_error(tool.run({"advise", tool.folder().write("notes.txt", "nothing recorded")}), 1, "notes.txt");
  expect_error(tool.run({"advise", tool / "nowhere"}), 1, "nowhere");
  expect_error(tool.run({"advise"}), 2, "FILE");
}

}  // namespace
}  // namespace rung
