// Random numbers: the published generator's, and of the distributions that they claim.
// SPDX-License-Identifier: Apache-2.0
#include "base/random.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace rung {
namespace {

constexpr uint64_t kCount = 100000;

struct Moments {
  double mean = 0, variance = 0, neighbours = 0;  // neighbours: covariance of values next to each other
};

template <class F>
Moments moments(F&& value) {
  Moments m;
  for (uint64_t i = 0; i < kCount; ++i) m.mean += double{value(i)} / kCount;
  for (uint64_t i = 0; i < kCount; ++i) {
    double x = value(i) - m.mean, next = value(i + 1) - m.mean;
    m.variance += x * x / kCount, m.neighbours += x * next / kCount;
  }
  return m;
}

// Five standard errors of each.
void expect_moments(const Moments& m, double mean, double variance) {
  const double error = 5 / std::sqrt(double{kCount});
  EXPECT_NEAR(m.mean, mean, error * std::sqrt(variance));
  EXPECT_NEAR(m.variance, variance, error * std::sqrt(2.0) * variance);
  EXPECT_NEAR(m.neighbours, 0, error * variance);
}

// Java's and Vigna's SplitMix64 from seed 0.
TEST(Random, IsThePublishedGenerator) {
  EXPECT_EQ(random_bits(0, 0), 0xe220a8397b1dcdafu);
  EXPECT_EQ(random_bits(0, 1), 0x6e789e6aa1b965f4u);
  EXPECT_EQ(random_bits(0, 2), 0x06c45d188009454fu);
  EXPECT_NE(random_bits(1, 0), random_bits(0, 0));
}

TEST(Random, UniformFillsZeroToOne) {
  expect_moments(moments([](uint64_t i) { return random_uniform(3, i); }), 0.5, 1.0 / 12);
  for (uint64_t i = 0; i < kCount; ++i) {
    ASSERT_GE(random_uniform(3, i), 0);
    ASSERT_LT(random_uniform(3, i), 1);
  }
}

TEST(Random, NormalIsStandard) {
  auto value = [](uint64_t i) { return random_normal(4, i); };
  expect_moments(moments(value), 0, 1);
  uint64_t within = 0, beyond = 0;
  for (uint64_t i = 0; i < kCount; ++i) within += std::abs(value(i))<1, beyond += std::abs(value(i))> 3;
  EXPECT_NEAR(static_cast<double>(within) / kCount, 0.6827, 0.008);
  EXPECT_NEAR(static_cast<double>(beyond) / kCount, 0.0027, 0.001);
}

TEST(Random, FastNormalIsStandardAndBounded) {
  auto value = [](uint64_t i) { return random_normal_fast(5, i); };
  expect_moments(moments(value), 0, 1);
  for (uint64_t i = 0; i < kCount; ++i) ASSERT_LT(std::abs(value(i)), 3.47f);
}

}  // namespace
}  // namespace rung
