// What meets a stated error, and by how much another exceeds it.
// SPDX-License-Identifier: Apache-2.0
#include "ladder/precision/goal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "ladder/precision/search.hpp"

namespace rung {
namespace {

using ::testing::HasSubstr;

TEST(PrecisionGoal, NamesTheFirstLimitThatIsMissed) {
  const PrecisionGoal goal{.rel_l2 = 0.02, .cosine = 0.999, .kl = 0.01};
  EXPECT_EQ(missed(goal, {0.02, 0.999, 0.01}), "");
  EXPECT_EQ(missed(goal, {0.0301, 0.9, 1}), "relative L2 error 0.0301, wanted at most 0.02");
  EXPECT_EQ(missed(goal, {0.01, 0.9, 1}), "cosine 0.9, wanted at least 0.999");
  EXPECT_EQ(missed(goal, {0.01, 1, 0.02}), "KL divergence of logits 0.02, wanted at most 0.01");
  EXPECT_EQ(missed({}, {9, -1, 9}), "");
  EXPECT_NE(missed(goal, {NAN, 1, 0}), "");
  EXPECT_NE(missed(goal, {0, NAN, 0}), "");
  EXPECT_NE(missed(goal, {0, 1, NAN}), "");
}

TEST(PrecisionGoal, BeginsWithTheErrorThatItsCosineAllows) {
  EXPECT_EQ(first_limit({.rel_l2 = 0.02}), 0.02);
  EXPECT_EQ(first_limit({.kl = 0.1}), 1);
  const double angle = 0.04;
  EXPECT_NEAR(first_limit({.cosine = std::cos(angle)}), std::tan(angle), 1e-9);
  EXPECT_EQ(first_limit({.rel_l2 = 0.01, .cosine = std::cos(angle)}), 0.01);
}

TEST(PrecisionGoal, RefusesWhatNoPlanReaches) {
  EXPECT_TRUE(check_reach({.rel_l2 = 1e-6}, {1e-6, 1, 0}));
  const Status refused = check_reach({.rel_l2 = 1e-9}, {3.21e-7, 1, 0});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::mismatch);
  EXPECT_THAT(refused.error().message, HasSubstr("out of reach: relative L2 error 3.21e-07, wanted at most 1e-09"));
}

// Factors of squares: an error twice as large has four times the square.
TEST(PrecisionGoal, MeasuresItsExcessInSquares) {
  EXPECT_NEAR(excess({.rel_l2 = 0.01}, {0.02, 1, 0}, 0), 4, 1e-9);
  EXPECT_NEAR(excess({.rel_l2 = 0.01}, {0.005, 1, 0}, 0), 0.25, 1e-9);
  EXPECT_NEAR(excess({.rel_l2 = 0.05}, {0.05, 1, 0}, 0.03 * 0.03), 1, 1e-9) << "what the start adds goes off both";
  EXPECT_NEAR(excess({.rel_l2 = 0.05}, {0.0583, 1, 0}, 0.03 * 0.03), 1.56, 0.01);
  EXPECT_NEAR(excess({.cosine = 0.999}, {0, 0.998, 0}, 0), 2, 1e-9);
  EXPECT_NEAR(excess({.rel_l2 = 0.1, .kl = 0.5}, {0.01, 1, 1.5}, 0), 3, 1e-9) << "the worst limit counts";
  EXPECT_EQ(excess({.rel_l2 = 0.01}, {NAN, 1, 0}, 0), INFINITY);
}

}  // namespace
}  // namespace rung
