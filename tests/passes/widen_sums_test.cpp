// What stays in f32 between kernels, and what products keep narrow.
// SPDX-License-Identifier: Apache-2.0
#include "passes/passes.hpp"
#include "passes/support.hpp"

namespace rung::test {
namespace {

using passes::widen_sums;

constexpr const char* kWeights = "g: f32[4] = constant()\nw: bf16[4,4] = constant()\n";
std::string with_weights(const char* text) { return kWeights + std::string(text); }
// The values move, by the roundings of bf16 that went.
void expect_widened(const char* before, const char* after, const Precision& precision = {}) {
  Graph graph = graph_of(with_weights(before));
  PassRun run = run_pass(widen_sums, graph, {}, precision);
  EXPECT_EQ(expression(run.graph), after);
  expect_same_values(graph, run.graph, 1e-2);
}
void expect_kept(const char* text) { expect_unchanged(widen_sums, with_weights(text)); }

TEST(WidenSums, KeepsAResidualStreamInF32) {
  expect_widened(
      "a = linear(x:bf16[3,4], w, out=bf16)\n"
      "b = linear(rms_norm(a, g, out=bf16), w, a, slots=residual, out=bf16)\n"
      "y = linear(rms_norm(b, g, out=bf16), w)",
      "y = linear(rms_norm(linear(rms_norm(linear(x, w), g, out=bf16), w, linear(x, w), slots=residual), g, "
      "out=bf16), w)");
}
TEST(WidenSums, DropsRoundingOfValuesThatOnlyNormsRead) {
  expect_widened("y = rms_norm(cast(x:f32[3,4], to=bf16), g, out=bf16)", "y = rms_norm(x, g, out=bf16)",
                 everywhere(DType::bf16));
}
TEST(WidenSums, KeepsARoundingThatTheAuthorWrote) {
  expect_kept("y = rms_norm(cast(x:f32[3,4], to=bf16), g, out=bf16)");
  expect_kept("y = add(v:f32[3,4], cast(cast(linear(x:bf16[3,4], w), to=bf16), to=f32))");
}
TEST(WidenSums, DropsRoundingsOfAPrecisionAlone) {
  const Precision elsewhere{{.labels = "other", .values = DType::bf16}};
  Graph graph = graph_of(with_weights("y = rms_norm(cast(x:f32[3,4], to=bf16), g, out=bf16)"));
  EXPECT_EQ(expression(run_pass(widen_sums, graph, {}, elsewhere).graph), expression(graph));
}
TEST(WidenSums, DropsTheWideningOfWhatIsNowWide) {
  expect_widened("y = add(v:f32[3,4], cast(linear(x:bf16[3,4], w, out=bf16), to=f32))", "y = add(v, linear(x, w))");
}
TEST(WidenSums, WidensThroughMovement) {
  expect_widened("y = rms_norm(concat(linear(x:bf16[3,4], w, out=bf16), cast(v:f32[2,4], to=bf16), axis=0), g)",
                 "y = rms_norm(concat(linear(x, w), v), g)", everywhere(DType::bf16));
}
TEST(WidenSums, KeepsWhatAProductReads) {
  expect_kept("a = linear(x:bf16[3,4], w, out=bf16)\ny = linear(a, w, a, slots=residual)");
}
TEST(WidenSums, KeepsWhatReachesAProductThroughMovement) {
  expect_kept("a = linear(x:bf16[3,4], w, out=bf16)\ny = matmul(a, transpose(a, permutation=[1,0]))");
}
TEST(WidenSums, KeepsAConcatWithANarrowPart) {
  expect_kept("y = rms_norm(concat(linear(x:bf16[3,4], w, out=bf16), v:bf16[2,4], axis=0), g)");
}
TEST(WidenSums, KeepsTheTypesOfOutputs) { expect_kept("y = linear(x:bf16[3,4], w, out=bf16)"); }
TEST(WidenSums, KeepsWhatNoKernelTakesInF32) {
  KernelQuery narrow_norms = [](const Op& op, std::span<const Type> types) {
    return as<RmsNorm>(op) && types[0].dtype == DType::f32 ? reject("f32") : accept();
  };
  Graph graph = graph_of(with_weights("y = rms_norm(linear(x:bf16[3,4], w, out=bf16), g, out=bf16)"));
  PassRun run = run_pass(widen_sums, graph, narrow_norms);
  EXPECT_EQ(expression(run.graph), expression(graph));
}

}  // namespace
}  // namespace rung::test
