// The type rules of convolutions of integers.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "type_rule.hpp"

namespace rung {
namespace {

TEST(IntegerConvTypes, FollowFromTheirOperands) {
  const Rule rules[] = {
      Rule{"conv(x:u8[1,9,4], w:i8[6,3,4], b:i32[6], s:f32[6], slots=bias+scale, zero=255)", "f32[1,7,6]"},
      Rule{"conv(x:u8[1,9,4], w:i8[6,3,4], b:f32[6], r:bf16[1,7,6], s:f32[6], slots=bias+residual+scale, last=relu)",
           "f32[1,7,6]"},
      Rule{"conv(x:i8[1,9,4], w:i8[6,3,2], s:f32[6], slots=scale, groups=2, zero=-128, out=u8, out_zero=255)",
           "u8[1,7,6]"},
  };
  for (const auto& [expression, type] : rules) EXPECT_EQ(type_of(expression), type) << expression;
}

TEST(IntegerConvTypes, AreRefusedByName) {
  const std::string conv = "conv(x:u8[1,8,3], w:i8[5,3,3], s:f32[5], slots=scale";
  const Rule rules[] = {
      Rule{"conv(x:u8[1,8,3], w:i8[5,3,3])", "x: got u8[1,8,3], wanted a float type"},
      Rule{"conv(x:f32[1,8,3], w:f32[5,3,3], zero=1)", "without a scale"},
      Rule{"conv(x:f32[1,8,3], w:f32[5,3,3], out=u8)", "without a scale"},
      Rule{"conv(x:u8[1,8,3], w:u8[5,3,3], s:f32[5], slots=scale)", "with a scale, wanted u8 or i8, and i8"},
      Rule{"conv(x:f32[1,8,3], w:i8[5,3,3], s:f32[5], slots=scale)", "with a scale, wanted u8 or i8, and i8"},
      Rule{"conv(x:u8[1,8,3], w:i8[5,3,3], s:bf16[5], slots=scale)", "scale: got bf16[5], wanted f32"},
      Rule{"conv(x:u8[1,8,3], w:i8[5,3,3], s:f32[4], slots=scale)", "scale: got shape [4]"},
      Rule{"conv(x:u8[1,8,3], w:i8[5,3,3], b:i64[5], s:f32[5], slots=bias+scale)", "bias: got i64[5] beside a scale"},
      Rule{"conv(x:u8[1,8,3], w:i8[5,3,3], b:f32[2,5], s:f32[5], slots=bias+scale)", "bias: got shape [2,5]"},
      Rule{conv + ", transposed=true)", "neither transposed nor"},
      Rule{conv + ", tail=\"r1=max(r0,0)\")", "nor with a tail"},
      Rule{conv + ", zero=256)", "zero: got 256"},
      Rule{"conv(x:i8[1,8,3], w:i8[5,3,3], s:f32[5], slots=scale, zero=-129)", "zero: got -129"},
      Rule{conv + ", out=bf16)", "out: got bf16, wanted u8 or i8"},
      Rule{conv + ", out_zero=1)", "out_zero: got 1 without `out`"},
      Rule{conv + ", out=i8, out_zero=128)", "out_zero: got 128"},
      Rule{"conv(x:u8[1,8,3], w:i8[5,3,3], r:f32[1,6,5], s:f32[5], slots=residual+scale, out=u8)",
           "wanted a result of floats"},
  };
  for (const auto& [expression, reason] : rules)
    EXPECT_THAT(type_of(expression), testing::HasSubstr(reason)) << expression;
}

}  // namespace
}  // namespace rung
