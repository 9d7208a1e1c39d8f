// Operands of an attention with columns and keys of zeros, for what has no form of its own in the op.
// SPDX-License-Identifier: Apache-2.0
#include "passes/attention_padding.hpp"

#include <algorithm>

#include "passes/rewrite.hpp"

namespace rung::passes {
namespace {

NodeId zeros(Graph& graph, DType dtype, const Shape& shape) {
  const NodeId zero = graph.literal("zero", Tensor({dtype, {}}));
  return graph.add(Broadcast{shape}, {zero});
}

// broadcast(x)  =>  x      of the same rank
NodeId without_broadcast(const Graph& graph, NodeId x) {
  while (graph.as<Broadcast>(x) && graph.shape(graph[x].operands[0]).rank() == graph.shape(x).rank())
    x = graph[x].operands[0];
  return x;
}

NodeId broadcast_to(Graph& graph, NodeId x, const Shape& shape) {
  return graph.shape(x) == shape ? x : graph.add(Broadcast{shape}, {x}, graph[x].label);
}

}  // namespace

NodeId with_columns(Graph& graph, NodeId x, int64_t columns) {
  Type rest = graph.type(x);
  const int last = rest.shape.rank() - 1;
  if (rest.shape[last] == columns) return x;
  rest.shape[last] = columns - rest.shape[last];
  return graph.add(Concat{last}, {x, zeros(graph, rest.dtype, rest.shape)}, graph[x].label);
}

NodeId key_of_zeros(Graph& graph, NodeId keys) {
  Type one = graph.type(keys);
  one.shape[1] = 1;
  return graph.literal("key", Tensor(one));
}

NodeId mask_with_extra(Graph& graph, NodeId mask, NodeId extra, int64_t keys) {
  extra = cast_to(graph, without_broadcast(graph, extra), DType::f32);
  Shape shape{1, 1, 1, keys};
  const Shape narrow = mask == kNoNode ? Shape{} : graph.shape(mask);
  for (int axis = 0; axis < 3; ++axis) {
    const int behind = axis - (4 - narrow.rank());  // a mask may have fewer axes
    shape[axis] = std::max(graph.shape(extra)[axis], behind < 0 ? 1 : narrow[behind]);
  }
  const NodeId scores = mask == kNoNode ? zeros(graph, DType::f32, shape) : broadcast_to(graph, mask, shape);
  shape[3] = 1;
  return graph.add(Concat{3}, {scores, broadcast_to(graph, extra, shape)}, graph[extra].label);
}

}  // namespace rung::passes
