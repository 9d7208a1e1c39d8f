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

TEST(Graph, AWrapperMayReplaceTheNodeThatItReads) {
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
