// Norms, activations and pooling written out in elementary ops.
// SPDX-License-Identifier: Apache-2.0
#include "passes/passes.hpp"
#include "passes/support.hpp"

namespace rung::test {
namespace {

using namespace passes;

TEST(RecogniseRmsNorm, DecomposedFormWithOffsetWeightBecomesOneOp) {
  expect_rewrite(
      recognise_rms_norm,
      "w: f32[4] = constant()\none: f32[] = constant(values=[1])\neps: f32[] = constant(values=[0.5])\n"
      "r = rsqrt(add(reduce(square(x:f32[2,3,4]), kind=mean, keep_dim=true), eps))\ny = mul(mul(x, r), add(one, w))",
      "y = rms_norm(x, w, eps=0.5, weight_offset=1)");
}
TEST(RecogniseRmsNorm, TakesTheCastsOnBothSides) {
  PassRun run =
      run_pass(recognise_rms_norm,
               graph_of("w: bf16[4] = constant()\neps: f32[] = constant(values=[0.5])\nwide = cast(x:bf16[3,4])\n"
                        "r = rsqrt(add(reduce(square(wide), kind=mean, keep_dim=true), eps))\n"
                        "y = cast(mul(cast(w), mul(r, wide)), to=bf16)"));
  EXPECT_EQ(expression(run.graph), "y = rms_norm(x, w, eps=0.5, out=bf16)");
}
TEST(RecogniseRmsNorm, KeepsTheMeanOverAnotherAxis) {
  expect_unchanged(
      recognise_rms_norm,
      "w: f32[4] = constant()\neps: f32[] = constant(values=[0.5])\n"
      "r = rsqrt(add(reduce(square(x:f32[4,4]), axis=0, kind=mean, keep_dim=true), eps))\ny = mul(mul(x, r), w)");
}
TEST(RecogniseRmsNorm, KeepsASumInPlaceOfTheMean) {
  expect_unchanged(recognise_rms_norm,
                   "w: f32[4] = constant()\neps: f32[] = constant(values=[0.5])\n"
                   "r = rsqrt(add(reduce(square(x:f32[3,4]), kind=sum, keep_dim=true), eps))\ny = mul(mul(x, r), w)");
}

TEST(RecogniseActivations, SiluAndBothGelus) {
  expect_rewrite(recognise_activations, "y = mul(x:f32[9], sigmoid(x))", "y = silu(x)");
  constexpr const char* kNumbers =
      "half: f32[] = constant(values=[0.5])\none: f32[] = constant(values=[1])\nroot: f32[] = "
      "constant(values=[1.41421356])\n"
      "c: f32[] = constant(values=[0.044715])\nthree: f32[] = constant(values=[3])\np: f32[] = "
      "constant(values=[0.79788456])\n";
  expect_rewrite(recognise_activations,
                 std::string(kNumbers) + "y = mul(mul(x:f32[9], half), add(one, erf(div(x, root))))", "y = gelu(x)");
  expect_rewrite(recognise_activations,
                 std::string(kNumbers) + "y = mul(mul(x:f32[9], add(erf(div(x, root)), one)), half)", "y = gelu(x)");
  expect_rewrite(
      recognise_activations,
      std::string(kNumbers) + "y = mul(mul(half, x:f32[9]), add(one, tanh(mul(p, add(x, mul(c, pow(x, three)))))))",
      "y = gelu_tanh(x)");
}
TEST(RecogniseActivations, KeepsProductsWithOtherNumbers) {
  expect_unchanged(recognise_activations,
                   "half: f32[] = constant(values=[0.6])\none: f32[] = constant(values=[1])\nroot: f32[] = "
                   "constant(values=[1.41421356])\n"
                   "y = mul(mul(x:f32[9], half), add(one, erf(div(x, root))))");
  expect_unchanged(recognise_activations, "y = mul(z:f32[9], sigmoid(x:f32[9]))");
}

constexpr const char* kPooling =
    "eps: f32[] = constant(values=[1e-9])\n"
    "m = cast(broadcast(reshape(mask:i64[2,3], shape=[2,3,1]), shape=[2,3,4]), to=f32)\n"
    "y = div(reduce(mul(x:f32[2,3,4], m), axis=1), max(reduce(m, axis=1), eps))";

TEST(FuseMaskedMean, MaskedSumOverCountBecomesOneOp) {
  expect_rewrite(fuse_masked_mean, kPooling, "y = masked_mean(x, cast(mask))");
}
TEST(FuseMaskedMean, AlsoAfterSimplify) {
  PassRun simple = run_pass(simplify, graph_of(kPooling));
  PassRun run = run_pass(fuse_masked_mean, simple.graph);
  EXPECT_EQ(count_ops(run.graph, "masked_mean"), 1u);
  expect_same_values(graph_of(kPooling), run.graph);
}
TEST(FuseMaskedMean, KeepsACountOfAnotherMask) {
  expect_unchanged(fuse_masked_mean,
                   "eps: f32[] = constant(values=[1e-9])\n"
                   "m = cast(broadcast(reshape(mask:i64[2,3], shape=[2,3,1]), shape=[2,3,4]), to=f32)\n"
                   "n = cast(broadcast(reshape(other:i64[2,3], shape=[2,3,1]), shape=[2,3,4]), to=f32)\n"
                   "y = div(reduce(mul(x:f32[2,3,4], m), axis=1), max(reduce(n, axis=1), eps))");
}
TEST(FuseMaskedMean, KeepsWeightsPerElement) {
  expect_unchanged(fuse_masked_mean,
                   "eps: f32[] = constant(values=[1e-9])\n"
                   "y = div(reduce(mul(x:f32[2,3,4], m:f32[2,3,4]), axis=1), max(reduce(m, axis=1), eps))");
}

TEST(FusePointwise, ChainBecomesOneSweep) {
  expect_rewrite(fuse_pointwise, "two: f32[] = constant(values=[2])\ny = tanh(add(mul(x:f32[2,3], two), b:f32[3]))",
                 "y = pointwise(b, x, program=\"r2=mul(r1,2);r3=add(r2,r0);r4=tanh(r3)\")");
}
TEST(FusePointwise, HoldsF32BetweenTheOpsThatItJoins) {
  PassRun run = run_pass(fuse_pointwise, graph_of("y = exp(mul(x:bf16[5], z:bf16[5]))"));
  EXPECT_EQ(expression(run.graph), "y = pointwise(x, z, program=\"r2=mul(r0,r1);r3=exp(r2)\", out=bf16)");
}
TEST(FusePointwise, RoundsWhereTheAuthorCasts) {
  expect_equivalent(fuse_pointwise, "y = exp(cast(cast(mul(x:f32[5], z:f32[5]), to=bf16), to=f32))", 0.0);
}
TEST(FusePointwise, HoldsFlagsAsNumbers) {
  expect_equivalent(fuse_pointwise, "y = select(and(lt(a:f32[4], b:f32[4]), c:bool[4]), a, exp(b))");
}
TEST(FusePointwise, StopsAtValuesThatOthersRead) {
  expect_unchanged(fuse_pointwise, "h = exp(x:f32[4])\ny = tanh(h)\nreturn y, h");
}
TEST(FusePointwise, KeepsIntegerArithmetic) { expect_unchanged(fuse_pointwise, "y = add(mul(a:i64[4], b:i64[4]), a)"); }
TEST(FusePointwise, KeepsSmallerOperandsThatAreComputed) {
  expect_unchanged(fuse_pointwise, "y = add(exp(a:f32[4]), b:f32[3,4])");
}
TEST(FusePointwise, ReadsAtMostEightOperands) {
  std::string text = "s0 = add(a0:f32[4], b:f32[4])\n";
  for (int i = 1; i < 12; ++i)
    text += "s" + std::to_string(i) + " = add(s" + std::to_string(i - 1) + ", a" + std::to_string(i) + ":f32[4])\n";
  PassRun run = run_pass(fuse_pointwise, graph_of(text));
  for (NodeId id : run.graph.order()) EXPECT_LE(run.graph[id].operands.size(), 8u);
  EXPECT_EQ(count_ops(run.graph, "pointwise"), 2u);
  expect_same_values(graph_of(text), run.graph);
}

}  // namespace
}  // namespace rung::test
