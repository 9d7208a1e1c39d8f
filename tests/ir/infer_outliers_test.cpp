// The type rules of columns that keep their type beside those of 8 bits.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "type_rule.hpp"

namespace rung {
namespace {

TEST(OutlierTypes, FollowFromTheirOperands) {
  const Rule rules[] = {
      Rule{"quantize(x:bf16[2,3,32], to=i8, outliers=[0,31])", "i8[2,3,32]"},
      Rule{"result(quantize(x:bf16[2,3,32], to=i8, outliers=[0,31]))", "f32[2,3]"},
      Rule{"result(quantize(x:bf16[2,3,32], to=i8, outliers=[0,31]), index=2)", "f32[2,3,2]"},
      Rule{"linear(x:i8[5,8], w:i8[6,8], c:f32[6], s:f32[5], xo:f32[5,3], wo:bf16[6,3], "
           "slots=scale+x_scale+x_outliers+w_outliers)",
           "f32[5,6]"},
      Rule{"linear(x:i8[5,8], w:i8[6,8], c:f32[6], s:f32[5], xo:f32[5,3], wo:f32[6,3], "
           "slots=scale+x_scale+x_outliers+w_outliers, gated=true, out=bf16)",
           "bf16[5,3]"},
  };
  for (const auto& [expression, type] : rules) EXPECT_EQ(type_of(expression), type) << expression;
}

TEST(OutlierTypes, AreRefusedByName) {
  const std::string with = "slots=scale+x_scale+x_outliers+w_outliers)";
  const std::string all = "got outliers, wanted the slots scale, x_scale, x_outliers and w_outliers together";
  const std::pair<std::string, std::string> rules[] = {
      {"quantize(x:f32[2,8], to=i8, outliers=[3,8])", "outliers: got column 8, wanted ascending ones of 8, each once"},
      {"quantize(x:f32[2,8], to=i8, outliers=[-1])", "outliers: got column -1, wanted ascending ones of 8"},
      {"quantize(x:f32[2,8], to=i8, outliers=[3,3])", "outliers: got column 3, wanted ascending ones of 8"},
      {"quantize(x:f32[2,8], to=i8, outliers=[4,1])", "outliers: got column 1, wanted ascending ones of 8"},
      {"quantize(x:f32[2,8], outliers=[1])", "got outliers beside to=f8e4m3fn and group=0, wanted i8 without groups"},
      {"quantize(x:f32[2,8], to=i8, group=8, outliers=[1])", "got outliers beside to=i8 and group=8, wanted i8"},
      {"linear(x:f8e4m3fn[5,8], w:f8e4m3fn[6,8], c:f32[6], s:f32[5], xo:f32[5,3], wo:f32[6,3], " + with,
       "got x f8e4m3fn[5,8], wanted i8 beside outliers"},
      {"linear(x:i8[5,8], w:i8[6,8], c:f32[6], xo:f32[5,3], wo:f32[6,3], slots=scale+x_outliers+w_outliers)", all},
      {"linear(x:i8[5,8], w:i8[6,8], c:f32[6], s:f32[5], xo:f32[5,3], slots=scale+x_scale+x_outliers)", all},
      {"linear(x:i8[5,8], w:i8[6,8], c:f32[6], s:f32[5], xo:bf16[5,3], wo:f32[6,3], " + with,
       "x_outliers: got bf16[5,3], wanted f32[5,3]"},
      {"linear(x:i8[5,8], w:i8[6,8], c:f32[6], s:f32[5], xo:f32[5,2], wo:f32[6,3], " + with,
       "x_outliers: got f32[5,2], wanted f32[5,3]"},
      {"linear(x:i8[5,8], w:i8[6,8], c:f32[6], s:f32[5], xo:f32[5,3], wo:f32[5,3], " + with,
       "w_outliers: got f32[5,3], wanted one column or more in 6 rows"},
      {"linear(x:i8[5,8], w:i8[6,8], c:f32[6], s:f32[5], xo:f32[5,3], wo:i8[6,3], " + with, "w_outliers: got i8[6,3]"},
  };
  for (const auto& [expression, reason] : rules)
    EXPECT_THAT(type_of(expression), ::testing::HasSubstr(reason)) << expression;
}

}  // namespace
}  // namespace rung
