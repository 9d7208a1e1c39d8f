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

// Files before opset 13 take all axes from `axis` on as one.
Outputs softmax(const Call& call) {
  if (call.version() >= 13) return {call.softmax(call[0], call.integer("axis", -1))};
  return {call.reshape(call.softmax(flatten(call)[0], 1), call.shape(call[0]))};
}

Outputs log_softmax(const Call& call) {
  if (call.version() >= 13) return {call.log_softmax(call[0], call.integer("axis", -1))};
  return {call.reshape(call.log_softmax(flatten(call)[0], 1), call.shape(call[0]))};
}

// The further results are the mean and the factor, which few models read.
Outputs layer_norm(const Call& call) {
  const NodeId x = call[0];
  const int axes = axes_of_norm(call, x);
  const double eps = call.number("epsilon", 1e-5);
  Outputs results{call.layer_norm(x, axes, call[1], call.optional(2), eps)};
  if (call.node().outputs.size() == 1) return results;
  std::vector<int64_t> all;
  for (int i = call.rank(x) - axes; i < call.rank(x); ++i) all.push_back(i);
  const NodeId wide = call.cast(x, DType::f32), mean = call.reduce(ReduceKind::mean, wide, all, true);
  const NodeId squares = call.unary(UnaryKind::square, call.binary(BinaryKind::sub, wide, mean));
  const NodeId variance = call.reduce(ReduceKind::mean, squares, all, true);
  const NodeId widened = call.binary(BinaryKind::add, variance, call.scalar(eps, DType::f32));
  return {results[0], mean, call.unary(UnaryKind::rsqrt, widened)};
}

Outputs rms_norm(const Call& call) {
  const NodeId x = call[0];
  const double eps = call.number("epsilon", 1e-5);
  const int axes = axes_of_norm(call, x);
  if (axes == 1 && call.rank(call[1]) == 1) return {call.rms_norm(x, call[1], eps)};
  std::vector<int64_t> rows;
  for (int i = 0; i < call.rank(x) - axes; ++i) rows.push_back(call.shape(x)[i]);
  rows.push_back(-1);
  const NodeId y = call.reshape(call.rms_norm(call.reshape(x, rows), std::nullopt, eps), call.shape(x));
  return {call.binary(BinaryKind::mul, y, call[1])};
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
Outputs reduce_sum_square(const Call& call) {
  return reduced(call, ReduceKind::sum, call.unary(UnaryKind::square, call[0]));
}
Outputs reduce_l1(const Call& call) { return reduced(call, ReduceKind::sum, call.unary(UnaryKind::abs, call[0])); }
Outputs reduce_l2(const Call& call) { return {call.unary(UnaryKind::sqrt, reduce_sum_square(call)[0])}; }

}  // namespace rung::onnx::operators
