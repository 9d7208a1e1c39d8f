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
    "y = layer_norm(linear(u, v, h, slots=residual), g, b)";

TEST(ToBf16, NarrowsWhatFlowsBetweenProducts) {
  PassRun run = run_pass(to_bf16, graph_of(kBlock), {}, DType::bf16);
  EXPECT_EQ(expression(run.graph),
            "y = layer_norm(linear(linear(layer_norm(x, g, b, out=bf16), cast(w, to=bf16), activation=gelu, out=bf16), "
            "cast(v, to=bf16), "
            "layer_norm(x, g, b, out=bf16), slots=residual, out=bf16), g, b)");
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
PassRun narrowed(const std::string& text) { return run_pass(to_bf16, graph_of(text), {}, DType::bf16); }

TEST(ToBf16, NarrowsLargeLinearsAtTheEdgesToo) {
  PassRun run = narrowed(
      "g: f32[4] = constant()\nb: f32[4] = constant()\nw: f32[2100,2000] = constant()\n"
      "y = linear(reshape(layer_norm(x:f32[500,4], g, b), shape=[1,2000]), w)");
  EXPECT_EQ(
      expression(run.graph),
      "y = cast(linear(cast(reshape(layer_norm(x, g, b), shape=[1,2000]), to=bf16), cast(w, to=bf16), out=bf16))");
}
TEST(ToBf16, KeepsTheMaskOfAnAttentionAndTheAnglesOfARope) {
  PassRun run = narrowed(
      "y = attention(rope(attention(q:f32[1,3,2,4], k:f32[1,5,2,4], k), c:f32[1,3,1,4], c), "
      "m:f32[3,5], k, k, has_mask=true)");
  EXPECT_EQ(expression(run.graph),
            "y = cast(attention(rope(attention(cast(q, to=bf16), cast(k, to=bf16), cast(k, to=bf16)), c, c), m, "
            "cast(k, to=bf16), cast(k, to=bf16), has_mask=true))");
}
TEST(ToBf16, KeepsIntegersAndFlags) {
  PassRun run = narrowed(
      "g: f32[4] = constant()\nb: f32[4] = constant()\nw: f32[4,4] = constant()\n"
      "h = gather(linear(layer_norm(x:f32[3,4], g, b), w), i:i64[3])\n"
      "y = layer_norm(linear(h, w), g, b)");
  EXPECT_EQ(expression(run.graph),
            "y = layer_norm(linear(gather(linear(layer_norm(x, g, b, out=bf16), cast(w, to=bf16), out=bf16), i), "
            "cast(w, to=bf16), out=bf16), g, b)");
}
TEST(ToBf16, KeepsSumsWithWhatIsWide) {
  PassRun run = narrowed(
      "g: f32[4] = constant()\nb: f32[4] = constant()\nw: f32[4,4] = constant()\n"
      "h = layer_norm(x:f32[3,4], g, b)\ns = add(reduce(h, kind=mean, keep_dim=true), linear(h, w))\n"
      "y = layer_norm(s, g, b)");
  EXPECT_EQ(count_ops(run.graph, "add"), 1u);
  for (NodeId id : run.graph.order()) {
    if (run.graph.as<Binary>(id)) {
      EXPECT_EQ(run.graph.type(id).dtype, DType::f32);
    }
  }
  expect_same_values(graph_of("g: f32[4] = constant()\nb: f32[4] = constant()\nw: f32[4,4] = constant()\n"
                              "h = layer_norm(x:f32[3,4], g, b)\n"
                              "s = add(reduce(h, kind=mean, keep_dim=true), linear(h, w))\ny = layer_norm(s, g, b)"),
                     run.graph, 2e-2);
}

}  // namespace
}  // namespace rung::test
