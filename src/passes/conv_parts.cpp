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

bool finish_conv(Graph& graph, NodeId conv, NodeId products) {
  const Conv op = *graph.as<Conv>(conv);
  const std::vector<NodeId> operands = graph[conv].operands;
  const std::string label = graph[conv].label;
  const auto add = [&](NodeId to, NodeId summand) {
    return graph.add(Binary{BinaryKind::add}, {to, cast_to(graph, summand, graph.type(to).dtype)}, label);
  };
  const auto activate = [&](Activation activation, NodeId x) {
    const auto kind = unary_of(activation);
    return kind ? graph.add(Unary{*kind}, {x}, label) : x;
  };
  if (const NodeId* bias = op.slots.find(operands, ConvSlot::bias)) products = add(products, *bias);
  products = activate(op.activation, products);
  if (const NodeId* residual = op.slots.find(operands, ConvSlot::residual))
    products = activate(op.last, add(products, *residual));
  if (!op.tail.empty()) products = graph.add(Pointwise{op.tail, graph.type(products).dtype}, {products}, label);
  return replace_with(graph, conv, products);
}

}  // namespace rung::passes
