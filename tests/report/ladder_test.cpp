// The ladder as Markdown and as a table on a terminal.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "report/format.hpp"
#include "report/html.hpp"
#include "report/ladder_rows.hpp"
#include "report/markdown.hpp"
#include "report/sample.hpp"
#include "report/terminal.hpp"

namespace rung {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

ClimbResult small_climb() {
  ClimbResult r{.model = "tiny", .device = "cpu", .dtype = "f32", .shapes = "x=f32[1,8]"};
  r.threads = 2, r.baseline_ms = 12.0, r.final_ms = 8.0, r.floor_ms = 6.0, r.kernels_before = 30;
  r.verified = true, r.rel_l2 = 3.1e-7, r.max_abs = 2e-6, r.cosine = 1;
  r.rungs = {{.name = "fusion", .accepted = true, .reason = "faster", .before_ms = 12, .ms = 8, .ratio = 1.5}};
  r.rungs[0].ci95 = {1.48, 1.52}, r.rungs[0].kernels = 12, r.rungs[0].rel_l2 = 3.1e-7;
  r.rungs.push_back({.name = "tune", .reason = "a tie | so it stays", .before_ms = 8, .ms = 8.01, .ratio = 0.999});
  r.rungs[1].ci95 = {0.99, 1.01}, r.rungs[1].kernels = 12, r.rungs[1].rel_l2 = 3.1e-7;
  r.stages = {{"layers", 10, 7000, 5500}, {"rest", 2, 600, 500}};
  r.kernels_after = 12;
  r.ablation = {{"fusion", 1.5, {1.48, 1.52}}};
  return r;
}

TEST(Headlines, SayByHowMuchAClimbExceededItsBudget) {
  ClimbResult result = small_climb();
  result.budget_s = 2, result.total_s = 2;
  for (const std::string& line : report::headlines(result)) EXPECT_THAT(line, Not(HasSubstr("budget")));
  result.total_s = 3.5;
  EXPECT_THAT(report::headlines(result), ::testing::Contains(HasSubstr("took 3.50 s of a budget of 2.00 s")));
}

TEST(Markdown, IsThisPage) {
  EXPECT_EQ(to_markdown(small_climb()), R"(# tiny on cpu

f32, 2 threads, x=f32\[1,8\]

- 12.0 ms → 8.00 ms, 1.50 × faster
- this machine's floor is 6.00 ms: 2.00 ms left
- verified: rel. L2 error 3.1e-7, largest error 2.0e-6, cosine 1.0000000

## The ladder

| rung | verdict | ms | × before | 95 % interval | kernels | rel. L2 | reason |
| :-- | :-- | --: | --: | :-: | --: | --: | :-- |
| baseline | baseline | 12.00 |  |  | 30 | – | as the model's author wrote it |
| fusion | kept | 8.00 | 1.500 | 1.480 – 1.520 | 12 | 3.1e-7 | faster |
| tune | rejected | 8.01 | 0.999 | 0.990 – 1.010 | 12 | 3.1e-7 | a tie \| so it stays |

## Time left by stage

| stage | launches | time | floor | left |
| :-- | --: | --: | --: | --: |
| layers | 10 | 7.00 ms | 5.50 ms | 1.50 ms |
| rest | 2 | 600 µs | 500 µs | 100 µs |
| whole run | 12 | 8.00 ms | 6.00 ms | 2.00 ms |

## What each rung is worth in the final plan

Time of the plan without the rung / time with it.

| without | × slower | 95 % interval |
| :-- | --: | :-: |
| fusion | 1.500 | 1.480 – 1.520 |
)");
}

TEST(Markdown, KeepsMarkupInNamesHarmless) {
  std::string page = to_markdown(testing::hostile_climb());
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("\x1b")));
}

TEST(LadderTable, IsThisTable) {
  EXPECT_EQ(ladder_table(small_climb(), false, 110),
            R"(rung      verdict      ms  × before   95 % interval  kernels  rel. L2  reason
baseline            12.00                                 30        –  as the model's author wrote it
fusion    kept       8.00     1.500  [1.480, 1.520]       12   3.1e-7  faster
tune      rejected   8.01     0.999  [0.990, 1.010]       12   3.1e-7  a tie | so it stays

12.0 ms → 8.00 ms, 1.50 × faster
this machine's floor is 6.00 ms: 2.00 ms left
verified: rel. L2 error 3.1e-7, largest error 2.0e-6, cosine 1.0000000
)");
}

TEST(LadderTable, PutsReasonsBelowOnANarrowTerminal) {
  EXPECT_THAT(ladder_table(small_climb(), false, 80), HasSubstr("3.1e-7\n    a tie | so it stays\n"));
}

TEST(LadderTable, WrapsReasonsToTheWidth) {
  ClimbResult result = small_climb();
  result.rungs[0].reason = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen";
  std::istringstream lines(ladder_table(result, false, 100));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(report::display_width(line), 100u) << line;
}

TEST(LadderTable, HasEscapeSequencesOnlyWhenAsked) {
  EXPECT_THAT(ladder_table(small_climb(), false), Not(HasSubstr("\x1b")));
  EXPECT_THAT(ladder_table(small_climb(), true), HasSubstr("\x1b[32mkept"));
  EXPECT_THAT(ladder_table(testing::hostile_climb(), false), Not(HasSubstr("\x1b")));
}

TEST(LadderTable, SaysLoudlyThatAPlanIsNotVerified) {
  ClimbResult result = small_climb();
  result.verified = false, result.verify_reason = "rel. L2 error 0.2 exceeds 1e-5";
  EXPECT_THAT(ladder_table(result, false), HasSubstr("NOT VERIFIED: rel. L2 error 0.2 exceeds 1e-5"));
}

TEST(LadderTable, LeavesNoTimeToAPlanBelowItsFloor) {
  ClimbResult result = small_climb();
  result.floor_ms = 9;
  EXPECT_THAT(ladder_table(result, false), HasSubstr("this machine's floor is 9.00 ms: 0 ms left\n"));
  EXPECT_THAT(to_markdown(result), HasSubstr("| whole run | 12 | 8.00 ms | 9.00 ms | 0 ms |\n"));
}

ClimbResult gpu_climb() {
  ClimbResult r = small_climb();
  DeviceLoad load{.seconds = 2, .runs = 137, .samples = 40};
  load.sm_mhz = 1980, load.sm_mhz_least = 1755, load.power_w = 350, load.power_limit_w = 700, load.energy_mj = 5100;
  r.loads = {{0, {.median_ms = 8}, load}, {20, {.median_ms = 8.2}, {}}};
  r.loads[1].load.unknown = "no such library";
  return r;
}

TEST(LoadLines, TellLatencyPowerAndClocksOfEachCadence) {
  EXPECT_THAT(
      ladder_table(gpu_climb(), false),
      HasSubstr("back to back: 8.00 ms; 350 W of 700 W, 5.10 J per run, 0.196 runs per joule, SM clock 1,980 MHz "
                "(least 1,755)\n"));
  EXPECT_THAT(to_markdown(gpu_climb()),
              HasSubstr("- at 20 Hz: 8.20 ms; clocks and power are not known: no such library"));
}

TEST(LoadLines, WarnOfThrottling) {
  ClimbResult result = gpu_climb();
  EXPECT_THAT(ladder_table(result, false), Not(HasSubstr("THROTTLED")));
  result.loads[0].load.throttled["power cap"] = 0.34;
  EXPECT_THAT(ladder_table(result, true), HasSubstr("\x1b[31mTHROTTLED back to back: power cap in 34 % of 40 samples"));
  EXPECT_THAT(render_html(result), HasSubstr("power cap in 34 % of 40 samples"));
}

TEST(LadderRows, KeepTheBaselineThatTheReceiptsHold) {
  auto rows = report::ladder_rows(testing::minilm_climb());
  EXPECT_EQ(rows.size(), 10u);
  EXPECT_TRUE(rows[0].baseline);
  EXPECT_EQ(rows[9].name, "projection (again)");
}

TEST(LadderTable, HandlesNumbersThatAreNotFinite) {
  EXPECT_THAT(ladder_table(testing::huge_climb(7), false), HasSubstr("–"));
  EXPECT_THAT(ladder_table(testing::empty_climb(), false), HasSubstr("NOT VERIFIED"));
}

}  // namespace
}  // namespace rung
