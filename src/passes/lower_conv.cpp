// Lowers convolutions to linears: those whose windows have one element, and, where the device has no fast kernel for
// convolutions, others as well, with the elements of every window side by side.
// SPDX-License-Identifier: Apache-2.0
#include "base/words.hpp"
#include "passes/conv_parts.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"
#include "passes/window_lowering.hpp"

namespace rung::passes {

namespace {

// conv(x, w, b, r)  =>  linear(x, reshape(w), b, r)      every window is one element; the linear's epilogue has no
// factors, no last activation and no tail
bool lower_points(Graph& graph, PassContext& context, NodeId id) {
  const Conv conv = *graph.as<Conv>(id);
  if (conv.is_of_integers() || conv.groups != 1 || scales_channels(graph, id) || conv.last != Activation::none ||
      !conv.tail.empty())
    return false;
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

// conv(x, w)  =>  linear over rows of windows, or a sum of products where it is depthwise      the device has no fast
// kernel for it, and its windows are small
bool lower_windows(Graph& graph, PassContext& context, NodeId id) {
  const Conv op = *graph.as<Conv>(id);
  if (op.transposed || op.is_of_integers() || context.kernel_for(graph, op, graph[id].operands)) return false;
  const NodeId w = graph[id].operands[1];
  const int64_t channels = graph.shape(graph[id].operands[0]).back();
  const bool is_depthwise = op.groups == channels && graph.shape(w)[0] == channels && channels > 1;
  Insertion here(graph, id);
  const NodeId x = graph[id].operands[0];
  const NodeId zero = graph.literal("zero", Tensor({graph.type(x).dtype, Shape{}}));  // tensors begin as zeros
  const WindowLowering lowering(graph, id, x, zero);
  if (!lowering.is_small(op.groups, is_depthwise)) return false;
  const NodeId products = is_depthwise ? lowering.each_channel(w) : lowering.by_groups(w, op.groups);
  return finish_conv(graph, id, activated(graph, id, products));
}

}  // namespace

Status lower_conv(Graph& graph, PassContext& context) {
  size_t lowered = 0;
  for_each_node(graph, [&](NodeId id) {
    if (!graph.as<Conv>(id)) return;
    lowered += lower_points(graph, context, id) || lower_windows(graph, context, id);
  });
  if (lowered) context.notes.add("{}", words::counted(lowered, "convolution was lowered", "convolutions were lowered"));
  return {};
}

}  // namespace rung::passes
