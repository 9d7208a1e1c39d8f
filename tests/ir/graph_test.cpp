// Graph editing keeps every invariant that verify() checks.
// SPDX-License-Identifier: Apache-2.0
#include "ir/graph.hpp"

#include <gtest/gtest.h>

#include "ir/text.hpp"
#include "ir/verify.hpp"

namespace rung {
namespace {

Graph parsed(const char* text) {
  auto graph = parse_graph(text);
  EXPECT_TRUE(graph) << graph.error().message;
  return std::move(*graph);
}

NodeId output(const Graph& graph) { return graph.outputs()[0].node; }

TEST(Graph, ReplacingUsesMovesOperandsAndOutputs) {
  Graph graph = parsed("x: f32[2] = input()\ny = neg(x)\nz = add(y, y)\nreturn a=z, b=y");
  NodeId y = graph.outputs()[1].node, x = graph.input_named("x");
  graph.replace_uses(y, x);
  EXPECT_EQ(graph.outputs()[1].node, x);
  EXPECT_TRUE(graph[y].users.empty());
  EXPECT_EQ(graph.erase_dead(), 1u);
  EXPECT_TRUE(verify(graph)) << verify(graph).error().message;
}

TEST(Graph, ReferencesStayWhereOthersAreAdded) {
  Graph graph = parsed("x: f32[2] = input()\ny = neg(x)\nreturn y=y");
  const NodeId y = output(graph);
  const Node* node = &graph[y];
  const Shape* shape = &graph.shape(y);
  for (int i = 0; i < 1000; ++i) graph.add(Unary{UnaryKind::exp}, {y});
  EXPECT_EQ(node, &graph[y]);
  EXPECT_EQ(shape, &graph.shape(y));
}

TEST(Graph, CopiesHaveNodesOfTheirOwn) {
  Graph graph = parsed("x: f32[2] = input()\ny = neg(x)\nreturn y=y");
  const std::string text = print(graph);
  const Graph copy = graph;
  graph.set_output("z", graph.add(Unary{UnaryKind::exp}, {output(graph)}));
  EXPECT_EQ(print(copy), text);
  EXPECT_TRUE(verify(copy)) << verify(copy).error().message;
}

TEST(Graph, ReferencesStayWhereItIsMoved) {
  Graph graph = parsed("x: f32[2] = input()\ny = neg(x)\nreturn y=y");
  const Node* node = &graph[output(graph)];
  const Graph moved = std::move(graph);
  EXPECT_EQ(node, &moved[output(moved)]);
}

TEST(Graph, InsertionPutsNewNodesBeforeTheirReader) {
  Graph graph = parsed("x: f32[2] = input()\ny = neg(x)\nreturn y=y");
  NodeId y = output(graph);
  {
    Insertion here(graph, y);
    NodeId e = graph.add(Unary{UnaryKind::exp}, {graph.input_named("x")});
    graph.set_operand(y, 0, e);
  }
  EXPECT_TRUE(verify(graph)) << verify(graph).error().message;
  EXPECT_EQ(name_of(graph[graph[y].operands[0]].op), "exp");
}

TEST(Graph, LetsAWrapperReplaceTheNodeItReads) {
  Graph graph = parsed("x: f32[2] = input()\ny = neg(x)\nz = exp(y)\nreturn z=z");
  NodeId y = graph[output(graph)].operands[0];
  NodeId wrapped;
  {
    Insertion here(graph, output(graph));
    wrapped = graph.add(Unary{UnaryKind::abs}, {y});
  }
  graph.replace_uses(y, wrapped);
  EXPECT_TRUE(verify(graph)) << verify(graph).error().message;
  EXPECT_EQ(graph[output(graph)].operands[0], wrapped);
}

TEST(Graph, NamesTheHeirOfAnErasedNode) {
  Graph graph = parsed("x: f32[2] = input()\ny = neg(x)\nv = reshape(y, shape=[2,1])\nz = exp(v)\nreturn z=z");
  const NodeId z = output(graph), v = graph[z].operands[0], y = graph[v].operands[0];
  EXPECT_EQ(graph.heir(z), z) << "alive";
  const NodeId both = graph.add(Reshape{{2, 1}}, {graph.input_named("x")});
  graph.replace_uses(z, both);
  EXPECT_EQ(graph.erase_dead(), 3u);
  EXPECT_EQ(graph.heir(z), both) << "replaced";
  EXPECT_EQ(graph.heir(y), both) << "its reader's reader was replaced";
}

TEST(Graph, LeavesAViewsValueWithItsSource) {
  Graph graph = parsed("y = neg(x:f32[4])\na = slice(y, axis=0, begin=0, end=2)\nb = exp(a)\nreturn b=b, y=y");
  const NodeId b = graph.outputs()[0].node, a = graph[b].operands[0], y = graph[a].operands[0];
  const NodeId other = graph.add(Slice{0, 2, 4, 1}, {y});
  graph.replace_uses(b, other);
  graph.erase_dead();
  EXPECT_EQ(graph.heir(a), y);
  EXPECT_EQ(graph.heir(b), other);
}

TEST(Graph, HasNoHeirForDeadCode) {
  Graph graph = parsed("x: f32[2] = input()\ny = neg(x)\nz = exp(y)\nreturn x=x");
  const NodeId z = graph.last();
  EXPECT_EQ(graph.erase_dead(), 2u);
  EXPECT_EQ(graph.heir(z), kNoNode);
}

TEST(Graph, KeepsFurtherResultsWhenTheFirstIsReplaced) {
  Graph graph = parsed("v = top_k(x:f32[2,9])\nreturn v=v, i=result(v)");
  const NodeId v = graph.outputs()[0].node, i = graph.outputs()[1].node;
  const NodeId values = graph.add(Reduce{ReduceKind::max, -1, true}, {graph.input_named("x")});
  graph.replace_uses(v, values);
  EXPECT_EQ(graph.outputs()[0].node, values);
  EXPECT_EQ(graph[i].operands[0], v);
  EXPECT_EQ(graph.erase_dead(), 0u);
}

TEST(Graph, MovesFurtherResultsToAnEqualOp) {
  Graph graph = parsed("v = top_k(x:f32[2,9])\nreturn v=v, i=result(v)");
  const NodeId v = graph.outputs()[0].node, i = graph.outputs()[1].node;
  NodeId equal = kNoNode;
  {
    Insertion here(graph, v);
    equal = graph.add(TopK{}, {graph.input_named("x")});
  }
  graph.replace_uses(v, equal);
  EXPECT_EQ(graph[i].operands[0], equal);
  EXPECT_EQ(graph.erase_dead(), 1u);
  EXPECT_TRUE(verify(graph)) << verify(graph).error().message;
}

TEST(Graph, ErasingDeadNodesKeepsInputs) {
  Graph graph = parsed("x: f32[2] = input()\ny: f32[2] = input()\nd = exp(neg(y))\nz = abs(x)\nreturn z=z");
  EXPECT_EQ(graph.erase_dead(), 2u);
  EXPECT_EQ(graph.inputs().size(), 2u);
}

TEST(Graph, ConstantNodesAreThoseThatReadNoInput) {
  Graph graph =
      parsed("x: f32[2] = input()\nk: f32[2] = constant(values=[1,2])\na = exp(k)\nb = add(a, x)\nreturn b=b");
  auto constant = constant_nodes(graph);
  NodeId b = output(graph);
  EXPECT_FALSE(constant[b]);
  EXPECT_TRUE(constant[graph[b].operands[0]]);
}

TEST(Graph, ReplacesAnOutputWithoutKeepingTheOldNode) {
  Graph graph = parsed("x: f32[2] = input()\ny = neg(x)\nz = exp(x)\nreturn r=y");
  NodeId y = output(graph), z = graph.last();
  graph.set_output("r", z);
  EXPECT_EQ(graph.outputs().size(), 1u);
  EXPECT_EQ(output(graph), z);
  EXPECT_FALSE(graph.is_output(y));
  EXPECT_EQ(graph.erase_dead(), 1u);
  EXPECT_EQ(graph.size(), 2u);
}

TEST(Graph, CountsAUseForEachOperandAndOutput) {
  Graph graph = parsed("x: f32[2] = input()\ny = neg(x)\nz = add(y, y)\nreturn z=z, y=y");
  NodeId z = output(graph), y = graph.outputs()[1].node, x = graph.input_named("x");
  EXPECT_FALSE(graph.single_use(y));
  EXPECT_TRUE(graph.single_use(z));
  graph.set_operand(z, 0, x);
  EXPECT_EQ(graph[y].users.size(), 1u);
  EXPECT_EQ(graph[z].operands[0], x);
  EXPECT_EQ(graph[z].operands[1], y);
  EXPECT_TRUE(verify(graph)) << verify(graph).error().message;
  EXPECT_EQ(graph.input_named("nobody"), kNoNode);
}

TEST(Graph, FreezesAnInputInItsPlace) {
  Graph graph = parsed("x: f32[2] = input()\ny: f32[2] = input()\nz = add(x, y)\nreturn z=z");
  NodeId x = graph.input_named("x");
  graph.freeze_input(x, std::make_shared<Literal>("x", Tensor::of<float>({2}, {1, 2})));
  EXPECT_EQ(graph.inputs().size(), 1u);
  EXPECT_TRUE(graph.is_constant(x));
  EXPECT_EQ(graph.weight(x)->load()->as<float>()[1], 2);
  EXPECT_TRUE(constant_nodes(graph)[x]);
  EXPECT_TRUE(verify(graph)) << verify(graph).error().message;
}

TEST(Verify, RefusesAnOperandThatIsComputedLater) {
  Graph graph = parsed("x: f32[2] = input()\ny = neg(x)\nz = exp(x)\nreturn y=y, z=z");
  graph.set_operand(output(graph), 0, graph.outputs()[1].node);
  ASSERT_FALSE(verify(graph));
  EXPECT_EQ(verify(graph).error().message, "node 1 (neg '') reads node 2 (exp '') before it is computed");
}

TEST(Verify, RefusesATypeItsOpDoesNotGive) {
  Graph graph = parsed("x: f32[2] = input()\nw: f32[3] = input()\ny = neg(x)\nreturn y=y");
  graph.set_operand(output(graph), 0, graph.input_named("w"));
  ASSERT_FALSE(verify(graph));
  EXPECT_EQ(verify(graph).error().message, "node 2 (neg '') is f32[2] but its op gives f32[3]");
}

TEST(Verify, RefusesTwoInputsOfOneName) {
  Graph graph;
  NodeId x = graph.input("x", {DType::f32, {2}});
  graph.input("x", {DType::f32, {2}});
  graph.set_output("y", x);
  EXPECT_EQ(verify(graph).error().message, "two inputs are named 'x'");
}

TEST(Verify, NamesTheNodeWhoseTypeIsWrong) {
  Graph graph;
  NodeId x = graph.input("x", {DType::f32, {2, 3}});
  auto bad = graph.try_add(MatMul{}, {x, x}, "layer.0");
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().message, "layer.0: matmul: got f32[2,3] and f32[2,3]: inner dimensions differ");
}

TEST(Verify, RefusesAGraphWithoutOutputs) {
  Graph graph;
  graph.input("x", {DType::f32, {2}});
  EXPECT_EQ(verify(graph).error().message, "the graph has no outputs");
}

}  // namespace
}  // namespace rung
