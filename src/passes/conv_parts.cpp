// The windows of a convolution in a graph, and its epilogue as ops of their own.
// SPDX-License-Identifier: Apache-2.0
#include "passes/conv_parts.hpp"

#include "ir/functions.hpp"
#include "passes/rewrite.hpp"

namespace rung::passes {

std::vector<Window> windows_of(const Graph& graph, NodeId conv) {
  const std::vector<NodeId>& operands = graph[conv].operands;
  const Shape &x = graph.shape(operands[0]), &w = graph.shape(operands[1]);
  std::vector<Window> windows;
  for (int axis = 0; axis < x.rank() - 2; ++axis) windows.push_back(window_of(*graph.as<Conv>(conv), x, w, axis));
  return windows;
}

namespace {

NodeId activate(Graph& graph, Activation activation, NodeId x) {
  const auto kind = unary_of(activation);
  return kind ? graph.add(Unary{*kind}, {x}, graph[x].label) : x;
}

NodeId combined(Graph& graph, BinaryKind kind, NodeId x, NodeId other) {
  return graph.add(Binary{kind}, {x, cast_to(graph, other, graph.type(x).dtype)}, graph[x].label);
}

}  // namespace

bool scales_channels(const Graph& graph, NodeId conv) {
  const NodeId* bias = graph.as<Conv>(conv)->slots.find(graph[conv].operands, ConvSlot::bias);
  return bias && has_factors(graph.shape(*bias));
}

// Factors are those of a batch norm, which is computed in f32.
NodeId activated(Graph& graph, NodeId conv, NodeId products) {
  const Conv op = *graph.as<Conv>(conv);
  const std::vector<NodeId> operands = graph[conv].operands;
  const Type type = graph.type(products);
  const auto row = [&](NodeId both, int64_t at) {
    return reshaped(graph, graph.add(Slice{0, at, at + 1, 1}, {both}), {type.shape.back()});
  };
  NodeId y = products;
  if (scales_channels(graph, conv)) {
    y = combined(graph, BinaryKind::mul, cast_to(graph, y, DType::f32), row(operands[2], 0));
    y = cast_to(graph, combined(graph, BinaryKind::add, y, row(operands[2], 1)), type.dtype);
  } else if (const NodeId* bias = op.slots.find(operands, ConvSlot::bias)) {
    y = combined(graph, BinaryKind::add, y, *bias);
  }
  return activate(graph, op.activation, y);
}

bool finish_conv(Graph& graph, NodeId conv, NodeId activated) {
  const Conv op = *graph.as<Conv>(conv);
  const std::vector<NodeId> operands = graph[conv].operands;
  NodeId y = activated;
  if (const NodeId* residual = op.slots.find(operands, ConvSlot::residual))
    y = activate(graph, op.last, combined(graph, BinaryKind::add, y, *residual));
  if (!op.tail.empty()) y = graph.add(Pointwise{op.tail, graph.type(y).dtype}, {y}, graph[conv].label);
  return replace_with(graph, conv, y);
}

}  // namespace rung::passes
