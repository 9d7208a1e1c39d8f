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
TEST(FoldConstants, KeepsBroadcastsAsViewsButFoldsWhatReadsThem) {
  PassRun run = run_pass(fold_constants, graph_of("a: f32[1] = constant(values=[2])\nb = broadcast(a, shape=[3,4])\n"
                                                  "y = add(mul(x:f32[3,4], b), exp(b))"));
  EXPECT_EQ(count_ops(run.graph, "broadcast"), 1u);
  EXPECT_EQ(count_ops(run.graph, "exp"), 0u);
}
TEST(FoldConstants, NeverLoadsAWeightThatIsNotAtHand) {
  auto graph = parse_graph("w: f32[4,4] = constant(name=\"w\")\ny = mul(x:f32[4,4], exp(w))");  // loading w would fail
  ASSERT_TRUE(graph);
  EXPECT_EQ(expression(run_pass(fold_constants, *graph).graph), "y = mul(x, exp(w))");
}

}  // namespace
}  // namespace rung::test
