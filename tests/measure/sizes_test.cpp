// Sizes: percentiles of |x|, a little above at most.
// SPDX-License-Identifier: Apache-2.0
#include "measure/sizes.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

namespace rung {
namespace {

TEST(Sizes, TellPercentilesOfAbsoluteValues) {
  std::vector<float> values(1000);
  std::iota(values.begin(), values.end(), 1.0f);
  for (size_t i = 0; i < values.size(); i += 2) values[i] = -values[i];
  Sizes sizes;
  sizes.add(std::span(values).first(300));
  sizes.add(std::span(values).subspan(300));
  for (const double percentile : {50.0, 90.0, 99.0, 99.9}) {
    EXPECT_GE(sizes.at(percentile), 10 * percentile);
    EXPECT_LE(sizes.at(percentile), 10 * percentile * 1.008 + 1);
  }
  EXPECT_EQ(sizes.at(100), 1000);
}

TEST(Sizes, LeaveOutWhatIsRare) {
  std::vector<float> values(10000, 1.0f);
  values[7] = 500;
  Sizes sizes;
  sizes.add(values);
  EXPECT_LT(sizes.at(99.9), 1.01f);
  EXPECT_EQ(sizes.at(100), 500);
}

TEST(Sizes, AreZeroWhereAllIs) {
  EXPECT_EQ(Sizes().at(99), 0);
  Sizes zeros;
  zeros.add(std::vector<float>{0.0f, -0.0f});
  EXPECT_EQ(zeros.at(50), 0);
  EXPECT_EQ(zeros.at(100), 0);
}

TEST(Sizes, TellWhatIsNoNumber) {
  Sizes sizes;
  sizes.add(std::vector<float>{1, std::numeric_limits<float>::quiet_NaN(), 2});
  EXPECT_TRUE(std::isnan(sizes.at(100)));
  EXPECT_GE(sizes.at(50), 2);
}

}  // namespace
}  // namespace rung
