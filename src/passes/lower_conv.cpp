// Lowers convolutions to ops that have faster kernels: those of single elements to linears, transposed ones to plain
// convolutions, and those that the device has no fast kernel for to linears over rows of windows.
// SPDX-License-Identifier: Apache-2.0
#include "base/words.hpp"
#include "passes/lower_conv.hpp"
#include "passes/passes.hpp"

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
    return graph.add(Binary{BinaryKind::add}, {to, summand}, label);
  };
  const auto activate = [&](Activation activation, NodeId x) {
    const auto kind = unary_of(activation);
    return kind ? graph.add(Unary{*kind}, {x}, label) : x;
  };
  if (const NodeId* bias = op.slots.find(operands, ConvSlot::bias)) products = add(products, *bias);
  products = activate(op.activation, products);
  if (const NodeId* residual = op.slots.find(operands, ConvSlot::residual))
    products = activate(op.last, add(products, *residual));
  return replace_with(graph, conv, products);
}

namespace {

// conv(x, w, b, r)  =>  linear(x, reshape(w), b, r)      every window is one element; the linear's epilogue has no last
// activation
bool lower_points(Graph& graph, PassContext& context, NodeId id) {
  const Conv conv = *graph.as<Conv>(id);
  if (conv.groups != 1 || conv.last != Activation::none) return false;
  for (const Window& window : windows_of(graph, id))
    if (!window.is_point()) return false;
  std::vector<NodeId> operands = graph[id].operands;
  const Shape rows{graph.shape(operands[1])[0], graph.shape(operands[1]).back()};
  Linear linear{.out = graph.type(id).dtype};
  linear.epilogue.activation = conv.activation;
  if (conv.has(ConvSlot::bias)) linear.slots.add(LinearSlot::bias);
  if (conv.has(ConvSlot::residual)) linear.slots.add(LinearSlot::residual);
  Insertion here(graph, id);
  operands[1] = reshaped(graph, operands[1], rows, graph[operands[1]].label);
  return replace_if_kernel(graph, context, id, linear, std::move(operands));
}

}  // namespace

Status lower_conv(Graph& graph, PassContext& context) {
  size_t lowered = 0;
  for_each_node(graph, [&](NodeId id) {
    if (!graph.as<Conv>(id)) return;
    lowered += lower_points(graph, context, id);
  });
  if (lowered) context.notes.add("{}", words::counted(lowered, "convolution was lowered", "convolutions were lowered"));
  return {};
}

}  // namespace rung::passes
