// f16 conversions at the edges: ties, subnormals, overflow, infinities and NaN.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "base/numeric.hpp"

namespace rung {
namespace {

TEST(F16, RoundTripsEveryBitPatternButNan) {
  for (uint32_t i = 0; i < 65536; ++i) {
    f16 half;
    half.bits = static_cast<uint16_t>(i);
    auto value = static_cast<float>(half);
    if (std::isnan(value))
      EXPECT_TRUE(std::isnan(static_cast<float>(f16(value))));
    else
      EXPECT_EQ(f16(value).bits, i);
  }
}

TEST(F16, RoundsTiesToEven) {
  EXPECT_EQ(f16(1.0f + 0x1p-11f).bits, 0x3c00);
  EXPECT_EQ(f16(1.0f + 3 * 0x1p-11f).bits, 0x3c02);
  EXPECT_EQ(f16(std::nextafter(1.0f + 0x1p-11f, 2.0f)).bits, 0x3c01);
  EXPECT_EQ(f16(0x1p-25f).bits, 0);
  EXPECT_EQ(f16(-3 * 0x1p-25f).bits, 0x8002);
}

TEST(F16, OverflowsToInfinityHalfAStepAboveLargest) {
  EXPECT_EQ(f16(65504.0f).bits, 0x7bff);
  EXPECT_EQ(f16(65519.99f).bits, 0x7bff);
  EXPECT_EQ(f16(-65520.0f).bits, 0xfc00);
  EXPECT_EQ(f16(INFINITY).bits, 0x7c00);
}

}  // namespace
}  // namespace rung
