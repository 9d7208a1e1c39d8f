// What is stored in bf16, and what stays in f32.
// SPDX-License-Identifier: Apache-2.0
#include "passes/passes.hpp"
#include "passes/support.hpp"

namespace rung::test {
namespace {

using passes::narrow_parts;

constexpr const char* kBlock =
    "g: f32[4] = constant()\nb: f32[4] = constant()\nw: f32[4,4] = constant()\nv: f32[4,4] = constant()\n"
    "h = layer_norm(x:f32[3,4], g, b)\nu = linear(h, w, activation=gelu)\n"
    "y = layer_norm(linear(u, v, h, slots=residual), g, b)";

TEST(NarrowParts, NarrowsWhatFlowsBetweenProducts) {
  PassRun run = run_pass(narrow_parts, graph_of(kBlock), {}, everywhere(DType::bf16));
  EXPECT_EQ(expression(run.graph),
            "y = layer_norm(linear(linear(layer_norm(x, g, b, out=bf16), cast(w, to=bf16), activation=gelu, out=bf16), "
            "cast(v, to=bf16), "
            "layer_norm(x, g, b, out=bf16), slots=residual, out=bf16), g, b)");
  expect_same_values(graph_of(kBlock), run.graph, 2e-2);
}
TEST(NarrowParts, DoesNothingUnlessAsked) { expect_unchanged(narrow_parts, kBlock); }
TEST(NarrowParts, KeepsSmallLinearsAtTheEdgesInF32) {
  PassRun run = run_pass(narrow_parts,
                         graph_of("g: f32[4] = constant()\nb: f32[4] = constant()\nw: f32[4,4] = constant()\n"
                                  "h = layer_norm(linear(x:f32[3,4], w), g, b)\ny = add(x, linear(h, w))"),
                         {}, everywhere(DType::bf16));
  EXPECT_EQ(expression(run.graph), "y = add(x, linear(layer_norm(linear(x, w), g, b), w))");
}
TEST(NarrowParts, KeepsSoftmaxAndMasksInF32) {
  PassRun run = run_pass(
      narrow_parts,
      graph_of("y = matmul(softmax(add(matmul(q:f32[1,2,3,4], k:f32[1,2,4,5]), mask:f32[1,1,3,5])), v:f32[1,2,5,4])"),
      {}, everywhere(DType::bf16));
  EXPECT_EQ(expression(run.graph),
            "y = cast(matmul(cast(softmax(add(cast(matmul(cast(q, to=bf16), cast(k, to=bf16))), mask)), to=bf16), "
            "cast(v, to=bf16)))");
}
PassRun narrowed(const std::string& text) {
  return run_pass(narrow_parts, graph_of(text), {}, everywhere(DType::bf16));
}

TEST(NarrowParts, NarrowsLargeLinearsAtTheEdgesToo) {
  PassRun run = narrowed(
      "g: f32[4] = constant()\nb: f32[4] = constant()\nw: f32[2100,2000] = constant()\n"
      "y = linear(reshape(layer_norm(x:f32[500,4], g, b), shape=[1,2000]), w)");
  EXPECT_EQ(
      expression(run.graph),
      "y = cast(linear(cast(reshape(layer_norm(x, g, b), shape=[1,2000]), to=bf16), cast(w, to=bf16), out=bf16))");
}
TEST(NarrowParts, KeepsAttentionMasksAndRopeAngles) {
  PassRun run = narrowed(
      "y = attention(rope(attention(q:f32[1,3,2,4], k:f32[1,5,2,4], k), c:f32[1,3,1,4], c), "
      "m:f32[3,5], k, k, slots=mask)");
  EXPECT_EQ(expression(run.graph),
            "y = cast(attention(rope(attention(cast(q, to=bf16), cast(k, to=bf16), cast(k, to=bf16)), c, c), m, "
            "cast(k, to=bf16), cast(k, to=bf16), slots=mask))");
}
TEST(NarrowParts, KeepsIntegersAndFlags) {
  PassRun run = narrowed(
      "g: f32[4] = constant()\nb: f32[4] = constant()\nw: f32[4,4] = constant()\n"
      "h = gather(linear(layer_norm(x:f32[3,4], g, b), w), i:i64[3])\n"
      "y = layer_norm(linear(h, w), g, b)");
  EXPECT_EQ(expression(run.graph),
            "y = layer_norm(linear(gather(linear(layer_norm(x, g, b, out=bf16), cast(w, to=bf16), out=bf16), i), "
            "cast(w, to=bf16), out=bf16), g, b)");
}
TEST(NarrowParts, KeepsSumsWithWhatIsWide) {
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

// Two parts, each a norm and a product.
const std::string kParts =
    "g: f32[4] = constant()\nb: f32[4] = constant()\nw: f32[4,4] = constant()\nx: f32[3,4] = input()\n"
    "h = layer_norm(x, g, b)  # a.norm\nu = linear(h, w)  # a.dense\n"
    "n = layer_norm(u, g, b)  # b.norm\nv = linear(n, w)  # b.dense\n"
    "y = layer_norm(v, g, b)  # c.norm\nreturn y=y";
constexpr DType kNarrow = DType::bf16, kWide = DType::f32;

PassRun by(const Precision& precision, const std::string& text = kParts) {
  return run_pass(narrow_parts, graph_of(text), {}, precision);
}
std::string expression_by(const Precision& precision, const std::string& text = kParts) {
  return expression(by(precision, text).graph);
}

TEST(NarrowParts, NarrowsThePartThatAnEntryNames) {
  EXPECT_EQ(
      expression_by({{"a", kNarrow, kNarrow, kNarrow}}),
      "y = layer_norm(linear(layer_norm(linear(layer_norm(x, g, b, out=bf16), cast(w, to=bf16), out=bf16), g, b), "
      "w), g, b)");
  EXPECT_EQ(expression_by({{"b", kNarrow, kNarrow, kNarrow}}),
            "y = layer_norm(linear(layer_norm(linear(layer_norm(x, g, b), w), g, b, out=bf16), cast(w, to=bf16), "
            "out=bf16), g, b)");
  expect_same_values(graph_of(kParts), by({{"b", kNarrow, kNarrow, kNarrow}}).graph, 2e-2);
}

TEST(NarrowParts, LetsLaterEntriesOverrideEarlierOnes) {
  const Precision all_but_b{{"*", kNarrow, kNarrow, kNarrow}, {"b", kWide, kWide, kWide}};
  EXPECT_EQ(expression_by(all_but_b), expression_by({{"a", kNarrow, kNarrow, kNarrow}}));
  EXPECT_EQ(expression_by({all_but_b[1], all_but_b[0]}), expression_by(everywhere(kNarrow)));
}

TEST(NarrowParts, NarrowsProductsAlone) {
  PassRun run = by({{.labels = "a", .products = kNarrow}});
  EXPECT_EQ(expression(run.graph),
            "y = layer_norm(linear(layer_norm(linear(cast(layer_norm(x, g, b), to=bf16), cast(w, to=bf16)), g, b), w), "
            "g, b)");
  EXPECT_EQ(run.notes, std::vector<std::string>{"1 product reads bf16 and stores f32"});
  expect_same_values(graph_of(kParts), run.graph, 2e-2);
}

TEST(NarrowParts, NarrowsStoredValuesAlone) {
  PassRun run = by({{.labels = "a", .values = kNarrow}});
  EXPECT_EQ(
      expression(run.graph),
      "y = layer_norm(linear(layer_norm(cast(linear(cast(layer_norm(x, g, b, out=bf16)), w), to=bf16), g, b), w), "
      "g, b)");
  EXPECT_EQ(run.notes, std::vector<std::string>{"2 values are stored in bf16"});
  expect_same_values(graph_of(kParts), run.graph, 2e-2);
}

// Products with few weights stay in f32 at the model's edge anyway; these are others.
TEST(NarrowParts, StoresNoOutputsInLess) {
  const std::string normed = "g: f32[4] = constant()\nb: f32[4] = constant()\nn = layer_norm(x:f32[500,4], g, b)\n";
  for (const char* end : {"w: f32[2100,2000] = constant()\ny = linear(reshape(n, shape=[1,2000]), w)",
                          "y = matmul(n, k:f32[4,3])", "y = tanh(n)"}) {
    SCOPED_TRACE(end);
    const Graph graph = graph_of(normed + end);
    const Graph narrowed = by({{.labels = "*", .values = kNarrow}}, normed + end).graph;
    EXPECT_EQ(graph.type(graph.outputs()[0].node), narrowed.type(narrowed.outputs()[0].node));
    const Node& output = narrowed[narrowed.outputs()[0].node];
    EXPECT_NE(name_of(output.op), "cast") << expression(narrowed);
  }
}

// One op or several: scores, and the values that they weigh, are products of computed values.
TEST(NarrowParts, NarrowsAttentionAlone) {
  const std::string fused =
      "w: f32[4,4] = constant()\ng: f32[4] = constant()\nb: f32[4] = constant()\n"
      "q = linear(layer_norm(x:f32[1,3,2,4], g, b), w)\ny = attention(q, q, q)";
  EXPECT_EQ(expression_by({{.labels = "*", .attention = kNarrow}}, fused),
            "y = cast(attention(cast(linear(layer_norm(x, g, b), w), to=bf16), cast(linear(layer_norm(x, g, b), w), "
            "to=bf16), cast(linear(layer_norm(x, g, b), w), to=bf16)))");
  EXPECT_EQ(
      expression_by({{.labels = "*", .products = kNarrow}}, fused),
      "y = attention(linear(cast(layer_norm(x, g, b), to=bf16), cast(w, to=bf16)), linear(cast(layer_norm(x, g, b), "
      "to=bf16), cast(w, to=bf16)), linear(cast(layer_norm(x, g, b), to=bf16), cast(w, to=bf16)))");
  const std::string apart =
      "w: f32[5,4] = constant()\nk: f32[4,5] = input()\ns = softmax(matmul(q:f32[3,4], k))\ny = matmul(s, w)";
  EXPECT_EQ(expression_by({{.labels = "*", .attention = kNarrow}}, apart),
            "y = matmul(softmax(cast(matmul(cast(q, to=bf16), cast(k, to=bf16)))), w)");
  EXPECT_EQ(expression_by({{.labels = "*", .products = kNarrow}}, apart),
            "y = cast(matmul(cast(softmax(matmul(q, k)), to=bf16), cast(w, to=bf16)))");
}

TEST(NarrowParts, CastsOnlyWherePartsMeet) {
  PassRun run = by({{"a", kNarrow, kNarrow, kNarrow}},
                   "g: f32[4] = constant()\nb: f32[4] = constant()\nw: f32[4,4] = constant()\nx: f32[3,4] = input()\n"
                   "h = layer_norm(x, g, b)  # a\nu = linear(h, w)  # a\nt = tanh(u)  # a\nv = linear(t, w)  # a\n"
                   "r = tanh(v)  # b\ns = tanh(r)  # b\ny = layer_norm(s, g, b)  # b\nreturn y=y");
  EXPECT_EQ(expression(run.graph),
            "y = layer_norm(tanh(tanh(cast(linear(tanh(linear(layer_norm(x, g, b, out=bf16), cast(w, to=bf16), "
            "out=bf16)), cast(w, to=bf16), out=bf16)))), g, b)");
}

}  // namespace
}  // namespace rung::test
