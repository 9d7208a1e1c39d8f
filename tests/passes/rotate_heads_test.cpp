// rotate_heads: the columns of values' heads are mixed in weights on both sides of an attention.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "passes/passes.hpp"
#include "passes/support.hpp"

namespace rung::test {
namespace {

using passes::rotate_heads;
using testing::ElementsAre;

const Precision kRotated{{.labels = "*", .products = DType::i8, .rotate = true}};

// Two heads of queries share one of values; heads have that many columns.
std::string heads(int64_t width) {
  return fmt::format(
      "x: f32[1,6,16] = input()\nw: f32[{2},16] = constant()\nc: f32[{2}] = constant()\no: f32[16,{1}] = constant()\n"
      "p = linear(x, w, c, slots=bias)  # qkv\nq = reshape(slice(p, axis=2, end={1}), shape=[1,6,2,{0}])\n"
      "k = reshape(slice(p, axis=2, begin={1}, end={3}), shape=[1,6,1,{0}])\n"
      "v = reshape(slice(p, axis=2, begin={3}, end={2}), shape=[1,6,1,{0}])\n"
      "a = reshape(attention(q, k, v, scale=0.3), shape=[1,6,{1}])\ny = linear(a, o)  # out\n",
      width, 2 * width, 4 * width, 3 * width);
}

TEST(RotateHeads, KeepsAnswers) {
  for (const int64_t width : {8, 12, 2}) {  // a rotation of 8, of blocks of 4, and of 2
    const std::string text = heads(width) + "return y";
    const PassRun run = run_pass(rotate_heads, graph_of(text), {}, kRotated);
    EXPECT_THAT(run.notes, ElementsAre("1 product reads rotated heads"));
    expect_same_values(graph_of(text), run.graph, 1e-5);
  }
}

// What the product reads is another value, of the same length: a column alone becomes a part of all.
TEST(RotateHeads, SpreadsWhatIsLarge) {
  Graph before = graph_of(heads(8) + "return y"), after = run_pass(rotate_heads, before, {}, kRotated).graph;
  for (Graph* graph : {&before, &after})
    for (NodeId id : graph->order())
      if (graph->as<Linear>(id) && (*graph)[id].label == "out")
        for (const Output& output : std::vector<Output>(graph->outputs()))
          graph->set_output(output.name, graph->add(Cast{DType::f32}, {(*graph)[id].operands[0]}));
  const NamedTensors inputs{{"x", Tensor::of<float>({1, 6, 16}, std::vector<float>(96, 0.5f))}};
  const auto was = answers_of(before, {inputs}), is = answers_of(after, {inputs});
  double squares = 0, rotated = 0, apart = 0;
  for (size_t i = 0; i < was.size(); ++i)
    squares += was[i] * was[i], rotated += is[i] * is[i], apart += std::abs(was[i] - is[i]);
  EXPECT_NEAR(rotated / squares, 1, 1e-4);
  EXPECT_GT(apart, 0.1);
}

TEST(RotateHeads, LeavesHeadsWithoutBlocks) {
  const PassRun run = run_pass(rotate_heads, graph_of(heads(7) + "return y"), {}, kRotated);
  EXPECT_EQ(expression(run.graph), expression(graph_of(heads(7) + "return y")));
  ASSERT_EQ(run.misses.size(), 1u);
  EXPECT_EQ(run.misses[0].label, "out");
}

TEST(RotateHeads, RotatesOnlyWhatIsAskedFor) {
  const Precision plain{{.labels = "*", .products = DType::i8}};
  Precision later = kRotated;
  later.push_back({.labels = "out", .rotate = false});
  for (const Precision& precision : {plain, later})
    EXPECT_EQ(expression(run_pass(rotate_heads, graph_of(heads(8) + "return y"), {}, precision).graph),
              expression(graph_of(heads(8) + "return y")));
}

}  // namespace
}  // namespace rung::test
