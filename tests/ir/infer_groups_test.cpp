// The type rules of weights whose columns have scales in groups.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "type_rule.hpp"

namespace rung {
namespace {

TEST(GroupTypes, FollowFromTheirOperands) {
  const Rule rules[] = {
      Rule{"linear(x:bf16[2,8], w:i8[6,8], c:f32[6], g:i8[6,2], slots=scale+group_scale)", "f32[2,6]"},
      Rule{"linear(x:f32[2,8], w:u8[6,4], c:f32[6], g:i8[6,1], o:i8[6,1], "
           "slots=scale+group_scale+group_offset, gated=true)",
           "f32[2,3]"},
      Rule{"linear(x:f32[2,8], w:u8[6,4], g:f32[6,2], o:i8[6,2], slots=group_scale+group_offset)", "f32[2,6]"},
      Rule{"quantize(x:bf16[2,32], to=u8, group=16)", "u8[2,16]"},
      Rule{"result(quantize(x:bf16[2,32], to=u8, group=16), index=3)", "i8[2,2]"},
  };
  for (const auto& [expression, type] : rules) EXPECT_EQ(type_of(expression), type) << expression;
}

TEST(GroupTypes, AreRefusedByName) {
  const Rule rules[] = {
      Rule{"linear(x:f32[2,8], w:i8[6,8], g:i8[6,2], slots=group_scale)",
           "got groups of columns, wanted the slots scale and group_scale beside them, and no x_scale"},
      Rule{"linear(x:f8e4m3fn[2,8], w:i8[6,8], c:f32[6], g:i8[6,2], slots=scale+group_scale)",
           "got x f8e4m3fn[2,8], wanted a type of 16 bits or more beside groups"},
      Rule{"linear(x:f32[2,8], w:u8[6,8], c:f32[6], g:i8[6,2], slots=scale+group_scale)",
           "got weight u8[6,8], wanted i8 without group_offset"},
      Rule{"linear(x:f32[2,8], w:u8[6,8], c:f32[6], g:i8[6,2], o:i8[6,2], "
           "slots=scale+group_scale+group_offset)",
           "inner dimensions differ"},
      Rule{"linear(x:f32[2,8], w:i8[6,8], c:f32[6], g:i8[6,3], slots=scale+group_scale)",
           "group_scale: got i8[6,3], wanted equal runs of an even number of the columns of x, f32[2,8]"},
      Rule{"linear(x:f32[2,8], w:u8[6,4], c:f32[6], g:i8[6,2], o:i8[6,4], "
           "slots=scale+group_scale+group_offset)",
           "group_offset: got i8[6,4], wanted i8[6,2]"},
      Rule{"linear(x:f32[2,8], w:u8[6,4], c:f32[6], g:f32[6,2], o:i8[6,2], slots=scale+group_scale+group_offset)",
           "got a group_scale of f32, wanted the slot group_offset beside it, and neither scale nor x_scale"},
      Rule{"linear(x:f32[2,8], w:i8[6,8], g:f32[6,2], slots=group_scale)",
           "got a group_scale of f32, wanted the slot group_offset beside it, and neither scale nor x_scale"},
      Rule{"linear(x:f32[2,8], w:u8[6,4], g:f32[6,2], o:f32[6,2], slots=group_scale+group_offset)",
           "group_offset: got f32[6,2], wanted i8[6,2]"},
      Rule{"quantize(x:f32[2,32], to=u8)", "got to=u8 without a group"},
      Rule{"quantize(x:f32[2,32], to=i8, group=4)", "got group=4, wanted 0 or a multiple of 8"},
      Rule{"quantize(x:f32[2,36], to=i8, group=8)", "wanted groups that divide the columns"},
      Rule{"quantize(x:f32[2,32], group=8)", "got to=f8e4m3fn and group=8, wanted i8 or u8"},
  };
  for (const auto& [expression, reason] : rules)
    EXPECT_THAT(type_of(expression), ::testing::HasSubstr(reason)) << expression;
}

}  // namespace
}  // namespace rung
