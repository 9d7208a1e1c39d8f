// fold_constants: small expressions over literals become literals.
// SPDX-License-Identifier: Apache-2.0
#include "ir/text.hpp"
#include "passes/passes.hpp"
#include "passes/support.hpp"

namespace rung::test {
namespace {

using passes::fold_constants;

TEST(FoldConstants, ComputesAnExpressionOverLiterals) {
  expect_rewrite(fold_constants,
                 "a: f32[2] = constant(values=[2,2])\nb: f32[1] = constant(values=[3])\ny = add(x:f32[2], mul(a, b))",
                 "y = add(x, 6)");
}
TEST(FoldConstants, KeepsBroadcastsButFoldsWhatReadsThem) {
  PassRun run = run_pass(fold_constants, graph_of("a: f32[1] = constant(values=[2])\nb = broadcast(a, shape=[3,4])\n"
                                                  "y = add(mul(x:f32[3,4], b), exp(b))"));
  EXPECT_EQ(count_ops(run.graph, "broadcast"), 1u);
  EXPECT_EQ(count_ops(run.graph, "exp"), 0u);
}
TEST(FoldConstants, NeverLoadsAWeightNotAtHand) {
  auto graph = parse_graph("w: f32[4,4] = constant(name=\"w\")\ny = mul(x:f32[4,4], exp(w))");  // loading w would fail
  ASSERT_TRUE(graph);
  EXPECT_EQ(expression(run_pass(fold_constants, *graph).graph), "y = mul(x, exp(w))");
}
TEST(FoldConstants, FoldsEveryElementOfALongValue) {
  const std::string columns = "a: f32[20,1] = constant()\nb: f32[1,20] = constant()\n";
  expect_equivalent(fold_constants, columns + "y = add(x:f32[20,20], mul(a, b))");
  // One number 400 times is a broadcast of it; all but one of 400 is not.
  PassRun run = run_pass(fold_constants, graph_of(columns + "y = add(x:f32[20,20], sub(mul(a, b), mul(a, b)))"));
  EXPECT_EQ(count_ops(run.graph, "broadcast"), 1u);
  const char* last =
      "z: f32[1] = constant(values=[0])\no: f32[1] = constant(values=[1])\n"
      "y = add(x:f32[100], exp(concat(broadcast(z, shape=[99]), o)))";
  EXPECT_EQ(count_ops(run_pass(fold_constants, graph_of(last)).graph, "broadcast"), 0u);
  expect_equivalent(fold_constants, last);
}
TEST(FoldConstants, KeepsValuesThatWouldBeLarge) {
  expect_unchanged(fold_constants,
                   "a: f32[1] = constant(values=[2])\ny = add(x:f32[1025,1024], exp(broadcast(a, shape=[1025,1024])))");
}
TEST(FoldConstants, KeepsWhatReadsAnInput) {
  expect_unchanged(fold_constants, "a: f32[1] = constant(values=[2])\ny = mul(x:f32[1], a)");
}

}  // namespace
}  // namespace rung::test
