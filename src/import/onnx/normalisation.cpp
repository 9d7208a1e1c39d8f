// Reductions and normalisations of ONNX graphs.
// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/operators.hpp"

namespace rung::onnx::operators {
namespace {

using exported::refuse;

Outputs reduced(const Call& call, ReduceKind kind, NodeId x) {
  const std::vector<int64_t> axes = call.axes(1);
  if (axes.empty() && call.integer("noop_with_empty_axes", 0) != 0) return {x};
  return {call.cast(call.reduce(kind, x, axes, call.integer("keepdims", 1) != 0), call.dtype(x))};
}

int axes_of_norm(const Call& call, NodeId x) { return call.rank(x) - call.axis(x, call.integer("axis", -1)); }

}  // namespace

Outputs softmax(const Call& call) {
  if (call.version() < 13) refuse("a softmax of opset {}, wanted 13 or newer", call.version());
  return {call.softmax(call[0], call.integer("axis", -1))};
}

Outputs log_softmax(const Call& call) {
  if (call.version() < 13) refuse("a softmax of opset {}, wanted 13 or newer", call.version());
  return {call.log_softmax(call[0], call.integer("axis", -1))};
}

// Its mean and factor have no reader in inference.
Outputs layer_norm(const Call& call) {
  const NodeId x = call[0];
  return {call.layer_norm(x, axes_of_norm(call, x), call[1], call.optional(2), call.number("epsilon", 1e-5))};
}

Outputs rms_norm(const Call& call) {
  const NodeId x = call[0];
  if (axes_of_norm(call, x) != 1) refuse("an RMS norm over {} axes, wanted one", axes_of_norm(call, x));
  return {call.rms_norm(x, call[1], call.number("epsilon", 1e-5))};
}

// norm(x + skip + bias); the fourth result is the sum.
Outputs skip_layer_norm(const Call& call) {
  NodeId sum = call.binary(BinaryKind::add, call[0], call[1]);
  if (call.has(4)) sum = call.binary(BinaryKind::add, sum, call[4]);
  const NodeId y = call.layer_norm(sum, 1, call[2], call.optional(3), call.number("epsilon", 1e-12));
  return {y, kNoNode, kNoNode, sum};
}
Outputs skip_rms_norm(const Call& call) {
  NodeId sum = call.binary(BinaryKind::add, call[0], call[1]);
  if (call.has(3)) sum = call.binary(BinaryKind::add, sum, call[3]);
  return {call.rms_norm(sum, call[2], call.number("epsilon", 1e-12)), kNoNode, kNoNode, sum};
}

Outputs reduce_mean(const Call& call) { return reduced(call, ReduceKind::mean, call[0]); }
Outputs reduce_sum(const Call& call) { return reduced(call, ReduceKind::sum, call[0]); }
Outputs reduce_max(const Call& call) { return reduced(call, ReduceKind::max, call[0]); }
Outputs reduce_min(const Call& call) { return {call.turned(reduced(call, ReduceKind::max, call.turned(call[0]))[0])}; }
Outputs reduce_sum_square(const Call& call) {
  return reduced(call, ReduceKind::sum, call.unary(UnaryKind::square, call[0]));
}
Outputs reduce_l1(const Call& call) { return reduced(call, ReduceKind::sum, call.unary(UnaryKind::abs, call[0])); }
Outputs reduce_l2(const Call& call) { return {call.unary(UnaryKind::sqrt, reduce_sum_square(call)[0])}; }

Outputs arg_max(const Call& call) {
  if (call.integer("select_last_index", 0) != 0) refuse("the last of the largest, wanted the first");
  return {call.arg_max(call[0], call.integer("axis", 0), call.integer("keepdims", 1) != 0)};
}
Outputs arg_min(const Call& call) {
  if (call.integer("select_last_index", 0) != 0) refuse("the last of the least, wanted the first");
  return {call.arg_max(call.turned(call[0]), call.integer("axis", 0), call.integer("keepdims", 1) != 0)};
}
Outputs top_k(const Call& call) {
  const NodeId x = call[0];
  if (call.integer("largest", 1) == 0) refuse("the smallest of a row, wanted the largest");
  if (call.axis(x, call.integer("axis", -1)) != call.rank(x) - 1)
    refuse("the largest along another axis than the last");
  const NodeId values = call.add(TopK{call.integer_of(1)}, {x});
  return {values, call.add(NthResult{}, {values})};
}
Outputs cumsum(const Call& call) {
  if (call.integer("exclusive", 0) != 0 || call.integer("reverse", 0) != 0)
    refuse("an exclusive or reversed running sum");
  const NodeId sum = call.add(CumSum{call.axis(call[0], call.integer_of(1))}, {call[0]});
  return {call.cast(sum, call.dtype(call[0]))};
}

}  // namespace rung::onnx::operators
