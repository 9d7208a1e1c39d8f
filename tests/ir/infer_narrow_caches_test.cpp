// The type rules of caches of 8 bits.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "type_rule.hpp"

namespace rung {
namespace {

TEST(NarrowCacheTypes, FollowFromTheirOperands) {
  for (const auto& [expression, result] : {
           Rule{"cache_heads(x:f32[2,6], k:f8e4m3fn[5,1,2], v:f8e4m3fn[5,1,2], p:i64[2], c:f32[2,2], "
                "s:f32[2,2])",
                "f32[2,1,2]"},
           Rule{"result(cached_attention(x:bf16[2,6], k:f8e4m3fnuz[5,1,2], v:f8e4m3fnuz[5,1,2], p:i64[2], "
                "c:f32[2,2], s:f32[2,2], n:i64[1]))",
                "f8e4m3fnuz[5,1,2]"},
           Rule{"attention(q:bf16[1,1,4,8], n:i64[1], k:f8e4m3fn[1,9,2,8], v:f8e4m3fn[1,9,2,8], slots=length)",
                "bf16[1,1,4,8]"},
       })
    EXPECT_EQ(type_of(expression), result) << expression;
}

TEST(NarrowCacheTypes, AreOfKeysAndValuesOfOneCache) {
  for (const auto& [expression, error] : {
           Rule{"cache_heads(x:f32[2,6], k:f8e4m3fn[5,1,2], v:f32[5,1,2], p:i64[2], c:f32[2,2], s:f32[2,2])",
                "wanted one dtype"},
           Rule{"cache_heads(x:f32[2,6], k:i8[5,1,2], v:i8[5,1,2], p:i64[2], c:f32[2,2], s:f32[2,2])",
                "got operands of f32 and i8, wanted one dtype"},
           Rule{"attention(q:f32[1,1,4,8], k:f8e4m3fn[1,9,2,8], v:f8e4m3fn[1,9,2,8], x:f8e4m3fn[1,9,2,8], "
                "y:f8e4m3fn[1,9,2,8], segments=2)",
                "wanted one dtype"},
           Rule{"attention(q:f32[1,1,4,8], n:i64[1], k:f8e4m3fn[1,9,2,8], v:f32[1,9,2,8], slots=length)",
                "wanted equal types"},
       })
    EXPECT_THAT(type_of(expression), testing::HasSubstr(error)) << expression;
}

}  // namespace
}  // namespace rung
