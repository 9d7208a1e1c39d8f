// Flops, bytes, floors and categories of ops.
// SPDX-License-Identifier: Apache-2.0
#include "measure/cost.hpp"

#include <gtest/gtest.h>

#include "ir/text.hpp"

namespace rung {
namespace {

Cost cost(const std::string& expression) {
  auto graph = parse_graph("y = " + expression);
  EXPECT_TRUE(graph) << graph.error().message;
  return graph ? cost_of(*graph, graph->outputs()[0].node) : Cost{-1, -1};
}

TEST(Cost, CountsAMultiplyAddAsTwo) {
  EXPECT_EQ(cost("linear(x:f32[128,384], w:f32[1536,384])").flops, 2.0 * 128 * 1536 * 384);
  EXPECT_EQ(cost("linear(x:f32[128,384], w:f32[1536,384])").bytes, 4.0 * (128 * 384 + 1536 * 384 + 128 * 1536));
  EXPECT_EQ(cost("matmul(a:bf16[2,3,4], b:bf16[4,5])").flops, 2.0 * 2 * 3 * 4 * 5);
  EXPECT_EQ(cost("matmul(a:bf16[2,3,4], b:bf16[4,5])").bytes, 2.0 * (24 + 20 + 30));
  EXPECT_EQ(cost("conv(x:f32[1,8,8,3], w:f32[6,4,4,3], b:f32[6], slots=bias, stride=[4,4])").flops,
            24.0 * (2 * 48 + 1));
}

TEST(Cost, CountsBothHalvesOfAGatedLinear) {
  EXPECT_EQ(cost("linear(x:f32[2,8], w:f32[12,8], gated=true, activation=silu)").flops, 2.0 * 2 * 12 * 8 + 12 + 12);
  EXPECT_EQ(cost("linear(x:f32[2,8], w:f32[6,8], c:f32[2,2], s:f32[2,2], slots=cos+sin, rotated_heads=2)").flops,
            2.0 * 2 * 6 * 8 + 3 * 8);
  EXPECT_EQ(cost("linear(x:f32[2,8], w:f32[4,8], b:f32[4], r:f32[2,4], slots=bias+residual)").flops,
            2.0 * 2 * 4 * 8 + 8 + 8);
}

TEST(Cost, CountsWhatALinearTakesOfANorm) {
  Cost feeds =
      cost("linear(x:bf16[2,8], w:bf16[32,8], r:f32[2,32], g:f32[32], slots=residual+norm_weight, norm_run=32)");
  EXPECT_EQ(feeds.flops, 2.0 * 2 * 32 * 8 + 2 * 32 * (1 + 3));
  EXPECT_EQ(feeds.bytes, 2.0 * (2 * 8 + 32 * 8 + 2 * 32) + 4 * (2 * 2 * 32 + 32 + 2));
  EXPECT_EQ(cost("linear(x:bf16[2,64], w:bf16[6,64], q:f32[2,2], slots=squares)").flops, 2.0 * 2 * 6 * 64 + 2 * 6 + 4);
}

TEST(Cost, CountsAttentionOverAllSegments) {
  Cost c = cost(
      "attention(q:f32[1,4,8,16], m:f32[4,7], k:f32[1,2,2,16], v:f32[1,2,2,16], k1:f32[1,5,2,16], "
      "v1:f32[1,5,2,16], slots=mask, segments=2)");
  EXPECT_EQ(c.flops, 4.0 * 8 * 4 * 7 * 16);
  EXPECT_EQ(c.bytes, 4.0 * (2 * 4 * 8 * 16 + 28 + 2 * 7 * 2 * 16));
}

TEST(Cost, CountsAnOperandReadTwiceOnce) {
  EXPECT_EQ(cost("mul(x:f32[10], x)").bytes, 80);
  EXPECT_EQ(cost("mul(x:f32[10], z:f32[10])").bytes, 120);
}

TEST(Cost, CountsOnlyThePickedRowsOfATable) {
  EXPECT_EQ(cost("gather(t:f32[30000,8], i:i64[4])").bytes, 4 * 8 + 2 * 4 * 4 * 8);
  EXPECT_EQ(cost("gather(t:f32[2,8], i:i64[4])").bytes, 4 * 8 + 4 * 2 * 8 + 4 * 4 * 8);
}

TEST(Cost, CountsEveryInstructionOfAProgram) {
  EXPECT_EQ(cost("pointwise(x:f32[10], z:f32[1], program=\"r2=mul(r0,r1);r3=tanh(r2)\")").flops, 20);
  EXPECT_EQ(cost("pointwise(x:f32[10], z:f32[1], program=\"r2=mul(r0,r1);r3=tanh(r2)\")").bytes, 84);
}

TEST(Cost, IsNothingForViewsAndSources) {
  for (const char* view : {"reshape(x:f32[4,2], shape=[8])", "transpose(x:f32[4,2], permutation=[1,0])",
                           "slice(x:f32[4,2], end=2)", "broadcast(x:f32[1,2], shape=[5,2])"}) {
    EXPECT_EQ(cost(view).flops, 0) << view;
    EXPECT_EQ(cost(view).bytes, 0) << view;
  }
  EXPECT_EQ(cost_of(Input{"x"}, {}, {DType::f32, {8}}).bytes, 0);
}

TEST(Cost, CountsReductionsByWhatTheyRead) {
  EXPECT_EQ(cost("reduce(x:f32[4,8], kind=sum)").flops, 32);
  EXPECT_EQ(cost("reduce(x:f32[4,8], kind=sum)").bytes, 4 * (32 + 4));
  EXPECT_EQ(cost("cast(x:f32[4], to=bf16)").flops, 0);
  EXPECT_EQ(cost("cast(x:f32[4], to=bf16)").bytes, 24);
}

TEST(Cost, CountsTheFunctionsOfEachNormAndSum) {
  const double elements = 4 * 8;
  EXPECT_EQ(cost("softmax(x:f32[4,8])").flops, 4 * elements);
  EXPECT_EQ(cost("layer_norm(x:f32[4,8], g:f32[8], b:f32[8])").flops, 7 * elements);
  EXPECT_EQ(cost("layer_norm(x:f32[4,8], r:f32[4,8], g:f32[8], b:f32[8], slots=residual)").flops, 8 * elements);
  EXPECT_EQ(cost("rms_norm(x:f32[4,8], g:f32[8])").flops, 4 * elements);
  EXPECT_EQ(cost("l2_normalize(x:f32[4,8])").flops, 3 * elements);
  EXPECT_EQ(cost("masked_mean(x:f32[1,4,8], m:f32[1,4])").flops, 2 * elements);
  EXPECT_EQ(cost("gated_mul(x:f32[4,8], z:f32[4,8], activation=silu)").flops, 2 * elements);
  EXPECT_EQ(cost("gated_mul(x:f32[4,8], z:f32[4,8], activation=none)").flops, elements);
  EXPECT_EQ(cost("add(x:f32[4,8], z:f32[4,8])").flops, elements);
}

TEST(Floor, IsTheLongerOfComputingAndMoving) {
  EXPECT_DOUBLE_EQ(floor_seconds({2e9, 1e9}, 1e9, 1e9), 2);
  EXPECT_DOUBLE_EQ(floor_seconds({2e9, 4e9}, 1e9, 1e9), 4);
  EXPECT_DOUBLE_EQ(floor_seconds({2e9, 4e9}, 1e9, 0), 2);
  EXPECT_DOUBLE_EQ(floor_seconds({8e9, 4e9}, 0, 1e9), 4);
  EXPECT_DOUBLE_EQ(floor_seconds({8e9, 4e9}, -1, 0), 0) << "nothing is known";
}

TEST(CategoryOf, SortsOps) {
  EXPECT_EQ(category_of(Linear{}), Category::gemm);
  EXPECT_EQ(category_of(Conv{}), Category::gemm);
  EXPECT_EQ(category_of(Attention{}), Category::attention);
  EXPECT_EQ(category_of(LayerNorm{}), Category::normalisation);
  EXPECT_EQ(category_of(Softmax{}), Category::normalisation);
  EXPECT_EQ(category_of(Unary{}), Category::elementwise);
  EXPECT_EQ(category_of(Rope{}), Category::elementwise);
  EXPECT_EQ(category_of(Gather{}), Category::copy);
  EXPECT_EQ(category_of(Transpose{}), Category::copy);
  EXPECT_EQ(category_of(Reduce{}), Category::other);
}

}  // namespace
}  // namespace rung
