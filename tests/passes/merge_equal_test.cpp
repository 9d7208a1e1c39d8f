// merge_equal: one node per value.
// SPDX-License-Identifier: Apache-2.0
#include "passes/passes.hpp"
#include "passes/support.hpp"

namespace rung::test {
namespace {

using passes::merge_equal;

TEST(MergeEqual, KeepsOneOfEqualChains) {
  PassRun run = run_pass(merge_equal, graph_of("a = tanh(exp(x:f32[4]))\nb = tanh(exp(x))\ny = add(a, b)"));
  EXPECT_EQ(run.graph.size(), 4u);
  EXPECT_EQ(run.notes.at(0), "merged 2 equal values");
}
TEST(MergeEqual, SeesThroughTheOrderOfCommutingOperands) {
  PassRun run = run_pass(merge_equal, graph_of("a = add(x:f32[4], z:f32[4])\nb = add(z, x)\ny = mul(a, b)"));
  EXPECT_EQ(count_ops(run.graph, "add"), 1u);
}
TEST(MergeEqual, KeepsSubtractionsOfSwappedOperandsApart) {
  expect_unchanged(merge_equal, "y = mul(sub(x:f32[4], z:f32[4]), sub(z, x))");
  PassRun run = run_pass(merge_equal, graph_of("y = mul(sub(x:f32[4], z:f32[4]), sub(z, x))"));
  EXPECT_EQ(count_ops(run.graph, "sub"), 2u);
}
TEST(MergeEqual, ComparesLiteralsByValueAndType) {
  PassRun run =
      run_pass(merge_equal, graph_of("a: f32[1] = constant(values=[2])\nb: f32[1] = constant(values=[2])\n"
                                     "c: f32[1,1] = constant(values=[2])\ny = mul(mul(mul(x:f32[1,4], a), b), c)"));
  EXPECT_EQ(count_ops(run.graph, "constant"), 2u);
}
TEST(MergeEqual, KeepsOpsOfDifferentFieldsApart) {
  PassRun run = run_pass(merge_equal, graph_of("y = add(softmax(x:f32[4,4], axis=0), softmax(x, axis=1))"));
  EXPECT_EQ(count_ops(run.graph, "softmax"), 2u);
}

}  // namespace
}  // namespace rung::test
