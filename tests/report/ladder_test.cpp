// The ladder as Markdown and as a table on a terminal.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "report/format.hpp"
#include "report/html.hpp"
#include "report/json.hpp"
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
  r.against_baseline = {12, 8, 1.5, {1.48, 1.52}, 20, ""};
  r.against_no_climb = {8.4, 8, 1.05, {1.03, 1.07}, 20, ""};
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

std::string line_with(const ClimbResult& result, const std::string& text) {
  for (const std::string& line : report::headlines(result))
    if (line.find(text) != std::string::npos) return line;
  return "no line has '" + text + "'";
}

TEST(Headlines, SayByHowMuchClimbsExceedTheirBudget) {
  ClimbResult result = small_climb();
  result.budget_s = 2, result.total_s = 2;
  for (const std::string& line : report::headlines(result)) EXPECT_THAT(line, Not(HasSubstr("budget")));
  result.total_s = 3.5, result.trials_s = 1;
  EXPECT_EQ(line_with(result, "budget"),
            "took 3.50 s of a budget of 2.00 s: reading, checking and measuring this model and writing its plan takes "
            "2.50 s");
}

TEST(Headlines, BlameTheModelOnlyWhereItNeedsLonger) {
  ClimbResult result = small_climb();
  result.budget_s = 60, result.total_s = 60.2, result.trials_s = 31;
  EXPECT_EQ(line_with(result, "budget"), "took 60.2 s of a budget of 60.0 s");
}

TEST(Headlines, ClaimNothingThatNoRaceProved) {
  ClimbResult result = small_climb();
  result.baseline_ms = 12.9, result.final_ms = 10.0;  // each of its own moment
  result.against_baseline = Speedup::same_plan(12.9);
  EXPECT_EQ(report::headlines(result)[0], "12.9 ms: no change was shown to be faster");
  result.against_baseline = Speedup::none(12.9, 10, kNoRace);
  EXPECT_EQ(report::headlines(result)[0],
            "12.9 ms → 10.0 ms, each measured by itself: there was no time for a race, so no speed-up is claimed");
  result.against_baseline = {12.9, 10, 1.29, {0.9, 1.4}, 8, ""};
  EXPECT_EQ(report::headlines(result)[0], "12.9 ms → 10.0 ms: no change was shown to be faster [0.900, 1.400]");
  result.against_baseline = {10, 12.9, 0.775, {0.769, 0.8}, 8, ""};
  EXPECT_THAT(report::headlines(result)[0], HasSubstr("1.29 × slower [1.250, 1.300]"));
}

TEST(Headlines, WithoutARaceAgreeInEveryForm) {
  ClimbResult result = small_climb();
  for (Speedup claim : {Speedup::same_plan(12), Speedup::none(12, 8, kNoRace), Speedup{12, 8, 1.5, {0.9, 2}, 8, ""}}) {
    result.against_baseline = claim;
    for (const std::string& form : {ladder_table(result, false), to_markdown(result), render_html(result)}) {
      EXPECT_THAT(form, HasSubstr(claim.raced() ? std::string(kSamePlan) : claim.unraced));
      EXPECT_THAT(form, Not(HasSubstr("1.50 × faster")));
    }
  }
}

TEST(Headlines, SayWhatAClimbProvedThatBroughtNothing) {
  ClimbResult result = small_climb();
  result.against_no_climb = Speedup::same_plan(8);
  result.rungs[0].name = kDefaultPlan;
  result.rungs[0].pairs = 6, result.rungs[1].pairs = 7, result.choices.resize(3);
  EXPECT_EQ(report::headlines(result)[1],
            "against opening the model without a climb: nothing gained, this is the same plan; the climb proved that "
            "the answers are right, and the one change that was tried makes it no faster here; 3 kernel choices were "
            "measured");
}

TEST(Headlines, OfferACheaperPrecisionWithErrorAndCommand) {
  ClimbResult result = small_climb();
  EXPECT_EQ(line_with(result, "bf16"), "no line has 'bf16'");
  result.cheaper = {"bf16", {8, 2, 4, {3.9, 4.1}, 9, ""}, 4e-3, 1e-2, 0.99998, "rung climb m --dtype bf16"};
  const std::string said =
      "bf16 instead: 2.00 ms, 4.00 × faster [3.900, 4.100] (rel. L2 error 4.0e-3, cosine 0.999980): rung climb m "
      "--dtype bf16";
  EXPECT_EQ(report::headlines(result).back(), said);
  EXPECT_THAT(render_html(result), HasSubstr(said));
  result.cheaper.speedup = Speedup::none(8, 0, kNoRace);
  EXPECT_EQ(report::headlines(result).back(),
            "bf16 was not timed: there was no time for a race, so no speed-up is claimed: rung climb m --dtype bf16");
}

TEST(Headlines, SayWhatDisturbedTheClimbOnEverySurface) {
  ClimbResult result = small_climb();
  EXPECT_EQ(line_with(result, "DISTURBED"), "no line has 'DISTURBED'");
  EXPECT_THAT(render_html(result), Not(HasSubstr("Disturbed")));
  result.disturbance = {.seconds = 10, .others = 0.48, .preemptions = 1247};
  const std::string said = "other programs had 48 % of the processors, preempted 1,247 times a second";
  EXPECT_EQ(line_with(result, "DISTURBED"), "DISTURBED: " + said);
  EXPECT_THAT(render_html(result), HasSubstr("Disturbed:</b> " + said));
  EXPECT_THAT(to_markdown(result), HasSubstr(said));
  EXPECT_THAT(ladder_table(result, false), HasSubstr("DISTURBED: " + said));
  EXPECT_EQ(to_json(result)["disturbance"]["said"], said);
}

TEST(Markdown, IsThisPage) {
  const std::string page = to_markdown(small_climb());
  EXPECT_EQ(page.substr(0, page.find("\n## What next")), R"page(# tiny on cpu

f32, 2 threads, x=f32\[1,8\]

- 12.0 ms → 8.00 ms, 1.50 × faster \[1.480, 1.520\]
- against opening the model without a climb: 1.05 × faster \[1.030, 1.070\]
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
)page");
}

TEST(Markdown, KeepsMarkupInNamesHarmless) {
  const std::string whole = to_markdown(testing::hostile_climb());
  const std::string page = whole.substr(0, whole.find("## What next"));  // whose commands stand in fences, as they are
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("\x1b")));
}

TEST(LadderTable, IsThisTable) {
  EXPECT_EQ(ladder_table(small_climb(), false, 110),
            R"(rung      verdict      ms  × before   95 % interval  kernels  rel. L2  reason
baseline            12.00                                 30        –  as the model's author wrote it
fusion    kept       8.00     1.500  [1.480, 1.520]       12   3.1e-7  faster
tune      rejected   8.01     0.999  [0.990, 1.010]       12   3.1e-7  a tie | so it stays

12.0 ms → 8.00 ms, 1.50 × faster [1.480, 1.520]
against opening the model without a climb: 1.05 × faster [1.030, 1.070]
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

TEST(LadderTable, LeavesPlansBelowTheirFloorNoTime) {
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

TEST(LoadLines, WarnOfThrottlingAtEachCadence) {
  for (const size_t at : {0, 1}) {
    ClimbResult result = gpu_climb();
    result.loads[1].load = result.loads[0].load;
    result.loads[at].load.throttled["heat"] = 0.5;
    const std::string cadence = at == 0 ? "back to back" : "at 20 Hz", share = "heat in 50 % of 40 samples";
    EXPECT_THAT(ladder_table(result, false), HasSubstr("THROTTLED " + cadence + ": " + share));
    EXPECT_THAT(to_markdown(result), HasSubstr(share));
    EXPECT_THAT(render_html(result), HasSubstr(share));
  }
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
