// Sums, shares and spans that findings share.
// SPDX-License-Identifier: Apache-2.0
#include "trace/findings/evidence.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rung::trace {

bool operator==(const Span& a, const Span& b) { return a.start_ns == b.start_ns && a.end_ns == b.end_ns; }

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Steps2 {
  Recording recording;
  Analysis analysis{recording};
  Steps2() {
    analysis.steps.spans = {{100, 200}, {250, 350}};
    analysis.accounting.wall = {100, 350};
    analysis.accounting.time_ns = 200;
  }
};

TEST(EvidenceTest, FiguresAreOfOneStep) {
  const Steps2 two;
  EXPECT_DOUBLE_EQ(ms_per_step(two.analysis, 3'000'000), 1.5);
  EXPECT_DOUBLE_EQ(per_step(two.analysis, 3), 1.5);
  EXPECT_DOUBLE_EQ(step_ms(two.analysis), 100e-6);
}

TEST(EvidenceTest, AMomentBelongsToTheStepAroundIt) {
  const Steps2 two;
  EXPECT_EQ(step_at(two.analysis, 99), std::nullopt);
  EXPECT_EQ(step_at(two.analysis, 100), 0u);
  EXPECT_EQ(step_at(two.analysis, 199), 0u);
  EXPECT_EQ(step_at(two.analysis, 200), std::nullopt);
  EXPECT_EQ(step_at(two.analysis, 250), 1u);
  EXPECT_EQ(step_at(two.analysis, 350), std::nullopt);
}

TEST(EvidenceTest, WithoutStepsAllIsOne) {
  const Recording recording;
  const Analysis analysis(recording);
  EXPECT_EQ(step_at(analysis, -5), 0u);
}

TEST(EvidenceTest, OnePercentIsWorthwhile) {
  const Steps2 two;
  EXPECT_TRUE(is_worthwhile(two.analysis, 1.01e-6));
  EXPECT_FALSE(is_worthwhile(two.analysis, 0.99e-6));
  const Recording recording;
  EXPECT_FALSE(is_worthwhile(Analysis(recording), 0));  // a wall of zero
}

TEST(EvidenceTest, CountsAreWholeWhereTheyAre) {
  EXPECT_EQ(count_in_words(4), "4");
  EXPECT_EQ(count_in_words(4.5), "4.5");
}

TEST(EvidenceTest, ATallySumsByNameTheLongestFirst) {
  Tally tally;
  tally.add("a", 1'000'000);
  tally.add("b", 3'000'000);
  tally.add("a", 1'000'000);
  tally.add("c", 500'000);
  EXPECT_EQ(tally.count(), 4);
  EXPECT_EQ(tally.ns(), 5'500'000);
  const auto all = tally.rows();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].event, "b");
  EXPECT_EQ(all[1].event, "a");
  EXPECT_EQ(all[1].count, 2);
  EXPECT_DOUBLE_EQ(all[1].ms, 2);
  const auto one = tally.rows(1);
  ASSERT_EQ(one.size(), 2u);
  EXPECT_EQ(one[1].event, "others (2 kinds)");
  EXPECT_EQ(one[1].count, 3);
  EXPECT_DOUBLE_EQ(one[1].ms, 2.5);
  EXPECT_EQ(tally.rows(2).size(), 3u) << "a row for one kind is that kind's";
}

TEST(EvidenceTest, SpansUniteWhereTheyTouch) {
  EXPECT_THAT(union_of({{5, 7}, {0, 2}, {2, 3}, {6, 9}, {6, 7}}), ElementsAre(Span{0, 3}, Span{5, 9}));
  EXPECT_EQ(length_of(union_of({{5, 7}, {0, 2}, {2, 3}, {6, 9}})), 7);
}

TEST(EvidenceTest, CommonSpans) {
  EXPECT_THAT(intersection_of({{0, 4}, {6, 8}}, {{1, 2}, {3, 7}}), ElementsAre(Span{1, 2}, Span{3, 4}, Span{6, 7}));
  EXPECT_THAT(intersection_of({{0, 4}}, {{4, 7}}), IsEmpty());
}

}  // namespace
}  // namespace rung::trace
