// The divergence of distributions, on scores whose answers are known.
// SPDX-License-Identifier: Apache-2.0
#include "measure/divergence.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace rung {
namespace {

Tensor scores(Shape shape, const std::vector<float>& values) { return Tensor::of<float>(shape, values); }

TEST(Divergence, IsThatOfTheDistributions) {
  const float half = std::log(0.5f), most = std::log(0.75f), rest = std::log(0.25f);
  const Tensor even = scores({1, 2}, {half, half}), uneven = scores({1, 2}, {most, rest});
  EXPECT_NEAR(mean_divergence(uneven, even), 0.5 * std::log(0.5 / 0.75) + 0.5 * std::log(0.5 / 0.25), 1e-7);
  EXPECT_NEAR(mean_divergence(even, uneven), 0.75 * std::log(0.75 / 0.5) + 0.25 * std::log(0.25 / 0.5), 1e-7);
  EXPECT_EQ(mean_divergence(even, even), 0);
}

TEST(Divergence, DoesNotSeeWhatSoftmaxDoesNotSee) {
  EXPECT_NEAR(mean_divergence(scores({1, 3}, {1001, 1002, 1004}), scores({1, 3}, {1, 2, 4})), 0, 1e-6);
}

TEST(Divergence, IsTheMeanOverRows) {
  const Tensor want = scores({2, 2}, {0, 0, 0, 0}), got = scores({2, 2}, {0, 0, 0, std::log(3.0f)});
  const double second = 0.5 * std::log(0.5 / 0.25) + 0.5 * std::log(0.5 / 0.75);
  EXPECT_NEAR(mean_divergence(got, want), second / 2, 1e-7);
}

TEST(Divergence, HoldsWhatIsImpossibleToItsPlace) {
  const Tensor masked = scores({1, 3}, {0, 0, -INFINITY}), whole = scores({1, 3}, {0, 0, 0});
  EXPECT_NEAR(mean_divergence(whole, masked), std::log(1.5), 1e-7);
  EXPECT_EQ(mean_divergence(masked, whole), INFINITY);
  EXPECT_EQ(mean_divergence(scores({1, 2}, {NAN, 0}), scores({1, 2}, {0, 0})), INFINITY);
  EXPECT_EQ(mean_divergence(scores({1, 2}, {NAN, 0}), scores({1, 2}, {NAN, 0})), 0);
  EXPECT_EQ(mean_divergence(scores({0, 2}, {}), scores({0, 2}, {})), 0);
}

}  // namespace
}  // namespace rung
