// What moves into a linear, and what must stay outside.
// SPDX-License-Identifier: Apache-2.0
#include "passes/passes.hpp"
#include "passes/support.hpp"

namespace rung::test {
namespace {

using namespace passes;

TEST(FuseActivation, ActivationOfALinearMovesIn) {
  expect_rewrite(fuse_activation, "w: f32[4,8] = constant()\ny = gelu_tanh(linear(x:f32[3,8], w))",
                 "y = linear(x, w, activation=gelu_tanh)");
}
TEST(FuseActivation, KeepsALinearThatHasAnotherReader) {
  expect_unchanged(fuse_activation, "w: f32[4,8] = constant()\nh = linear(x:f32[3,8], w)\ny = silu(h)\nreturn y, h");
}
TEST(FuseActivation, KeepsFunctionsThatAreNoActivation) {
  expect_unchanged(fuse_activation, "w: f32[4,8] = constant()\ny = exp(linear(x:f32[3,8], w))");
}
TEST(FuseActivation, KeepsAnActivationAfterAResidual) {
  expect_unchanged(fuse_activation,
                   "w: f32[4,8] = constant()\ny = silu(linear(x:f32[3,8], w, r:f32[3,4], slots=residual))");
}

TEST(FuseActivation, KeepsASecondActivation) {
  expect_unchanged(fuse_activation, "w: f32[4,8] = constant()\ny = silu(linear(x:f32[3,8], w, activation=relu))");
}
TEST(FuseActivation, KeepsAnActivationAfterAGate) {
  expect_unchanged(fuse_activation, "w: f32[4,8] = constant()\ny = silu(linear(x:f32[3,8], w, gated=true))");
}
TEST(FuseResidual, SumWithALinearMovesIn) {
  expect_rewrite(fuse_residual, "w: f32[4,8] = constant()\ny = add(r:f32[3,4], linear(x:f32[3,8], w, activation=relu))",
                 "y = linear(x, w, r, slots=residual, activation=relu)");
}
// A layer has a sum behind its attention and one behind its hidden values; their labels are often the layer's.
TEST(FuseResidual, KeepsTheLabelOfTheProduct) {
  for (const auto& [label, wanted] : {std::pair("  # layer.down", "layer.down"), std::pair("", "layer")}) {
    const PassRun run =
        run_pass(fuse_residual, graph_of(fmt::format("w: f32[4,8] = constant()\nh = linear(x:f32[3,8], w){}\n"
                                                     "y = add(r:f32[3,4], h)  # layer\nreturn y",
                                                     label)));
    EXPECT_EQ(run.graph[run.graph.outputs()[0].node].label, wanted);
  }
}
TEST(FuseResidual, ReshapesAResidualOfLowerRank) {
  expect_rewrite(fuse_residual, "w: f32[4,8] = constant()\ny = add(linear(x:f32[1,3,8], w), r:f32[3,4])",
                 "y = linear(x, w, reshape(r, shape=[1,3,4]), slots=residual)");
}
TEST(FuseResidual, KeepsABroadcastResidual) {
  expect_unchanged(fuse_residual, "w: f32[4,8] = constant()\ny = add(linear(x:f32[2,3,8], w), r:f32[3,4])");
}
TEST(FuseResidual, KeepsALinearThatHasAnotherReader) {
  expect_unchanged(fuse_residual,
                   "w: f32[4,8] = constant()\nh = linear(x:f32[3,8], w)\ny = add(h, r:f32[3,4])\nreturn y, h");
}

TEST(FuseResidual, KeepsALinearThatIsBroadcast) {
  expect_unchanged(fuse_residual, "w: f32[4,8] = constant()\ny = add(linear(x:f32[1,8], w), r:f32[3,4])");
  expect_unchanged(fuse_residual, "w: f32[4,8] = constant()\ny = add(linear(x:f32[3,8], w), r:f32[1,3,4])");
}
TEST(FuseResidual, KeepsASecondResidual) {
  expect_unchanged(fuse_residual,
                   "w: f32[4,8] = constant()\ny = add(linear(x:f32[3,8], w, q:f32[3,4], slots=residual), "
                   "r:f32[3,4])");
}
TEST(FuseResidual, KeepsDifferences) {
  expect_unchanged(fuse_residual, "w: f32[4,8] = constant()\ny = sub(r:f32[3,4], linear(x:f32[3,8], w))");
}
TEST(FuseResidual, TakesTheLinearThatStandsLast) {
  expect_rewrite(fuse_residual,
                 "w: f32[4,8] = constant()\nv: f32[4,8] = constant()\n"
                 "y = add(linear(x:f32[3,8], w), linear(z:f32[3,8], v))",
                 "y = linear(z, v, linear(x, w), slots=residual)");
}
constexpr const char* kHalves = "w: f32[8,5] = constant()\nh = linear(x:f32[3,5], w)\n";

TEST(FuseGated, HalvesOfOneLinearBecomeAGatedLinear) {
  expect_rewrite(fuse_gated,
                 std::string(kHalves) + "y = mul(silu(slice(h, axis=1, end=4)), slice(h, axis=1, begin=4, end=8))",
                 "y = linear(x, w, gated=true, activation=silu)");
}
TEST(FuseGated, SwapsRowsWhereTheGateComesSecond) {
  expect_rewrite(fuse_gated,
                 std::string(kHalves) + "y = mul(slice(h, axis=1, end=4), silu(slice(h, axis=1, begin=4, end=8)))",
                 "y = linear(x, concat(slice(w, begin=4, end=8), slice(w, end=4)), gated=true, activation=silu)");
}
TEST(FuseGated, ProductOfUnrelatedValuesBecomesAGatedMul) {
  expect_rewrite(fuse_gated, "y = mul(u:f32[3,4], gelu_tanh(g:f32[3,4]))", "y = gated_mul(g, u, activation=gelu_tanh)");
}
TEST(FuseGated, KeepsProductsThatBroadcast) { expect_unchanged(fuse_gated, "y = mul(u:f32[1,4], gelu(g:f32[3,4]))"); }
TEST(FuseGated, KeepsALinearWithAThirdReader) {
  PassRun run =
      run_pass(fuse_gated, graph_of(std::string(kHalves) +
                                    "y = mul(silu(slice(h, axis=1, end=4)), slice(h, axis=1, begin=4, end=8))\n"
                                    "return y, h"));
  EXPECT_EQ(expression(run.graph),
            "y = gated_mul(slice(linear(x, w), axis=1, end=4), slice(linear(x, w), axis=1, begin=4, end=8)); h = "
            "linear(x, w)");
}

// What is no pair of halves of a plain linear becomes a product of slices.
void expect_sliced(const std::string& gate, const std::string& up,
                   const std::string& linear = "linear(x:f32[3,5], w)") {
  PassRun run = run_pass(fuse_gated, graph_of("w: f32[8,5] = constant()\nh = " + linear + "\ny = mul(silu(slice(h, " +
                                              gate + ")), slice(h, " + up + "))"));
  EXPECT_EQ(count_ops(run.graph, "gated_mul"), 1u) << gate << "; " << up << "; " << linear;
  EXPECT_EQ(count_ops(run.graph, "slice"), 2u) << gate << "; " << up << "; " << linear;
}
TEST(FuseGated, KeepsPartsThatAreNoHalves) {
  expect_sliced("axis=1, end=3", "axis=1, begin=3, end=6");
  expect_sliced("axis=1, end=8, step=2", "axis=1, begin=1, end=8, step=2");
  expect_sliced("axis=1, begin=2, end=6", "axis=1, begin=4, end=8");
  expect_sliced("axis=0, end=1", "axis=0, begin=1, end=2");
  expect_sliced("axis=1, end=4", "axis=1, end=4");
}
TEST(FuseGated, KeepsHalvesOfALinearThatDoesMore) {
  const std::string halves[] = {"axis=1, end=4", "axis=1, begin=4, end=8"};
  expect_sliced(halves[0], halves[1], "linear(x:f32[3,5], w, activation=relu)");
  expect_sliced(halves[0], halves[1], "linear(x:f32[3,5], w, r:f32[3,8], slots=residual)");
  expect_sliced(halves[0], halves[1], "linear(x:f32[3,5], w, p:f32[3,4], p, slots=cos+sin, rotated_heads=1)");
}
TEST(FuseGated, SwapsTheBiasWithTheRows) {
  expect_equivalent(fuse_gated,
                    "w: f32[8,5] = constant()\nb: f32[8] = constant()\nh = linear(x:f32[3,5], w, b, slots=bias)\n"
                    "y = mul(slice(h, axis=1, end=4), silu(slice(h, axis=1, begin=4, end=8)))");
}
TEST(FuseGated, KeepsAGateThatHasAnotherReader) {
  expect_unchanged(fuse_gated, "a = silu(g:f32[3,4])\ny = mul(a, u:f32[3,4])\nreturn y, a");
}
TEST(FuseGated, KeepsFunctionsThatAreNoActivation) {
  expect_unchanged(fuse_gated, "y = mul(exp(g:f32[3,4]), u:f32[3,4])");
}
TEST(FuseAddNorm, SumBeforeANormMovesIn) {
  expect_rewrite(fuse_add_norm,
                 "w: f32[4] = constant()\nb: f32[4] = constant()\ny = layer_norm(add(x:f32[3,4], r:f32[3,4]), w, b)",
                 "y = layer_norm(x, r, w, b, slots=residual)");
}
TEST(FuseAddNorm, KeepsASumThatHasAnotherReader) {
  expect_unchanged(fuse_add_norm,
                   "w: f32[4] = constant()\nb: f32[4] = constant()\ns = add(x:f32[3,4], r:f32[3,4])\n"
                   "y = layer_norm(s, w, b)\nreturn y, s");
}
TEST(FuseAddNorm, KeepsASumThatBroadcasts) {
  expect_unchanged(fuse_add_norm,
                   "w: f32[4] = constant()\nb: f32[4] = constant()\ny = layer_norm(add(x:f32[3,4], r:f32[4]), w, b)");
}

TEST(FuseAddNorm, KeepsASecondSum) {
  expect_unchanged(fuse_add_norm,
                   "w: f32[4] = constant()\nb: f32[4] = constant()\n"
                   "y = layer_norm(add(x:f32[3,4], r:f32[3,4]), q:f32[3,4], w, b, slots=residual)");
}

}  // namespace
}  // namespace rung::test
