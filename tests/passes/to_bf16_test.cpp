// What is stored in bf16, and what stays in f32.
// SPDX-License-Identifier: Apache-2.0
#include "passes/passes.hpp"
#include "passes/support.hpp"

namespace rung::test {
namespace {

using passes::to_bf16;

constexpr const char* kBlock =
    "g: f32[4] = constant()\nb: f32[4] = constant()\nw: f32[4,4] = constant()\nv: f32[4,4] = constant()\n"
    "h = layer_norm(x:f32[3,4], g, b)\nu = linear(h, w, activation=gelu)\n"
    "y = layer_norm(linear(u, v, h, has_residual=true), g, b)";

TEST(ToBf16, NarrowsWhatFlowsBetweenProducts) {
  PassRun run = run_pass(to_bf16, graph_of(kBlock), {}, DType::bf16);
  EXPECT_EQ(expression(run.graph),
            "y = layer_norm(linear(linear(layer_norm(x, g, b, out=bf16), cast(w, to=bf16), activation=gelu, out=bf16), "
            "cast(v, to=bf16), "
            "layer_norm(x, g, b, out=bf16), has_residual=true, out=bf16), g, b)");
  expect_same_values(graph_of(kBlock), run.graph, 2e-2);
}
TEST(ToBf16, DoesNothingUnlessAsked) { expect_unchanged(to_bf16, kBlock); }
TEST(ToBf16, KeepsSmallLinearsAtTheEdgesInF32) {
  PassRun run = run_pass(to_bf16,
                         graph_of("g: f32[4] = constant()\nb: f32[4] = constant()\nw: f32[4,4] = constant()\n"
                                  "h = layer_norm(linear(x:f32[3,4], w), g, b)\ny = add(x, linear(h, w))"),
                         {}, DType::bf16);
  EXPECT_EQ(expression(run.graph), "y = add(x, linear(layer_norm(linear(x, w), g, b), w))");
}
TEST(ToBf16, KeepsSoftmaxAndMasksInF32) {
  PassRun run = run_pass(
      to_bf16,
      graph_of("y = matmul(softmax(add(matmul(q:f32[1,2,3,4], k:f32[1,2,4,5]), mask:f32[1,1,3,5])), v:f32[1,2,5,4])"),
      {}, DType::bf16);
  EXPECT_EQ(expression(run.graph),
            "y = cast(matmul(cast(softmax(add(cast(matmul(cast(q, to=bf16), cast(k, to=bf16))), mask)), to=bf16), "
            "cast(v, to=bf16)))");
}

}  // namespace
}  // namespace rung::test
