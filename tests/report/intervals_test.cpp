// Intervals in words.
// SPDX-License-Identifier: Apache-2.0
#include "report/intervals.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "report/html.hpp"
#include "report/markdown.hpp"
#include "report/sample.hpp"
#include "report/speedup_lines.hpp"
#include "report/terminal.hpp"

namespace rung::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Intervals, AreFromOneEndToTheOther) {
  EXPECT_EQ(interval_text(Interval{1.48, 1.52}), "1.480 – 1.520");
  EXPECT_EQ(bracketed(Interval{1.48, 1.52}), "[1.480, 1.520]");
  EXPECT_EQ(bracketed(Interval{0.5, 4.9}), "[0.500, 4.900]");
  EXPECT_EQ(bracketed(Interval{1.07, 158}), "[1.070, 158]") << "wide, and clear of 1";
  EXPECT_EQ(bracketed(Interval{0.001, 0.9}), "[0.001, 0.900]");
}

TEST(Intervals, ThatRuleNothingOutSayWhy) {
  for (const Interval wide :
       {Interval{0, 304828.6}, Interval{0, kInfinity}, Interval{0.2, 2.1}, Interval{-kInfinity, 3}}) {
    EXPECT_EQ(interval_text(wide), "too few runs to judge") << wide.lo << " " << wide.hi;
    EXPECT_EQ(bracketed(wide), "too few runs to judge");
  }
}

TEST(Intervals, OfMediansTakeSixRuns) {
  EXPECT_EQ(bracketed(Latency{.ci95 = {17.84, 18.61}, .runs = 6}, 1), "[17.8, 18.6]");
  EXPECT_EQ(interval_text(Latency{.ci95 = {17.84, 18.61}, .runs = 6}, 1), "17.8 – 18.6");
  EXPECT_EQ(bracketed(Latency{.ci95 = {17.84, 18.61}, .runs = 5}, 1), "too few runs to judge");
  EXPECT_EQ(interval_text(Latency{.ci95 = {17.84, 18.61}, .runs = 5}, 1), "too few runs to judge");
}

TEST(Intervals, OfTooFewRunsAreReportedEverywhere) {
  ClimbResult result = testing::minilm_climb();
  for (Receipt& receipt : result.rungs) receipt.ci95 = {0, 304828.6};
  for (AblationRow& row : result.ablation) row.ci95 = {0, kInfinity};
  result.against_baseline.ci95 = {0, kInfinity};
  for (const std::string& text : {render_html(result), to_markdown(result), ladder_table(result, false)}) {
    EXPECT_THAT(text, HasSubstr("too few runs to judge"));
    EXPECT_THAT(text, Not(HasSubstr("304,82")));
    EXPECT_THAT(text, Not(HasSubstr("0.000, ")));
    EXPECT_THAT(text, Not(HasSubstr("0.000 – ")));
  }
  EXPECT_THAT(baseline_line(result), ::testing::EndsWith(": too few runs to judge"));
}

}  // namespace
}  // namespace rung::report
