// bf16 conversions at the edges: ties, overflow, subnormals and every kind of NaN.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/numeric.hpp"

namespace rung {
namespace {

float with_bits(uint32_t bits) { return std::bit_cast<float>(bits); }

TEST(Bf16, RoundTripsEveryBitPatternButNan) {
  for (uint32_t i = 0; i < 65536; ++i) {
    bf16 narrow;
    narrow.bits = static_cast<uint16_t>(i);
    auto value = static_cast<float>(narrow);
    if (std::isnan(value))
      EXPECT_TRUE(std::isnan(static_cast<float>(bf16(value))));
    else
      EXPECT_EQ(bf16(value).bits, i);
  }
}

TEST(Bf16, RoundsTiesToEven) {
  EXPECT_EQ(bf16(with_bits(0x3f808000)).bits, 0x3f80);
  EXPECT_EQ(bf16(with_bits(0x3f818000)).bits, 0x3f82);
  EXPECT_EQ(bf16(with_bits(0x3f808001)).bits, 0x3f81);
  EXPECT_EQ(bf16(with_bits(0x3f80ffff)).bits, 0x3f81);
  EXPECT_EQ(bf16(with_bits(0xbf818000)).bits, 0xbf82);
  EXPECT_EQ(bf16(with_bits(0x00008001)).bits, 0x0001) << "subnormals too";
}

TEST(Bf16, OverflowsToInfinityHalfAStepAboveLargest) {
  EXPECT_EQ(bf16(with_bits(0x7f7f7fff)).bits, 0x7f7f);
  EXPECT_EQ(bf16(with_bits(0x7f7f8000)).bits, 0x7f80);
  EXPECT_EQ(bf16(std::numeric_limits<float>::lowest()).bits, 0xff80);
  EXPECT_EQ(bf16(INFINITY).bits, 0x7f80);
}

// A NaN may have all its bits below those that a narrow type keeps.
TEST(Narrow, MakesNansQuietAndKeepsTheirSign) {
  for (uint32_t bits : {0x7f800001u, 0x7fc00000u, 0x7fffffffu, 0x7f801000u, 0xff800001u, 0xffffffffu}) {
    uint32_t sign = bits >> 16 & 0x8000u;
    EXPECT_EQ(bf16(with_bits(bits)).bits & 0xffc0u, sign | 0x7fc0u) << std::hex << bits;
    EXPECT_EQ(f16(with_bits(bits)).bits & 0xfe00u, sign | 0x7e00u) << std::hex << bits;
  }
}

TEST(Narrow, MakesASignallingNanQuietWhenWidened) {
  f16 half;
  half.bits = 0xfc01;
  EXPECT_EQ(std::bit_cast<uint32_t>(static_cast<float>(half)) & 0xffc00000u, 0xffc00000u);
}

}  // namespace
}  // namespace rung
