// Reductions of ONNX graphs beyond sums and means: products, extremes and their places, running sums.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "import/onnx/operators.hpp"

namespace rung::onnx::operators {
namespace {

using exported::refuse;

// The axes to reduce; none: the operator leaves x as it is.
std::optional<std::vector<int64_t>> reduced_axes(const Call& call) {
  std::vector<int64_t> axes = call.axes(1);
  if (axes.empty() && call.integer("noop_with_empty_axes", 0) != 0) return std::nullopt;
  if (axes.empty())
    for (int i = 0; i < call.rank(call[0]); ++i) axes.push_back(i);
  for (int64_t& axis : axes) axis = call.axis(call[0], axis);
  return axes;
}

bool keeps(const Call& call) { return call.integer("keepdims", 1) != 0; }

// The shape of a reduction over no element, filled with its neutral value; none: there are elements.
std::optional<NodeId> of_nothing(const Call& call, NodeId x, const std::vector<int64_t>& axes, double neutral) {
  Shape to = call.shape(x);
  bool empty = false;
  for (const int64_t axis : axes) {
    empty = empty || to[static_cast<int>(axis)] == 0;
    to[static_cast<int>(axis)] = 1;
  }
  if (!empty) return std::nullopt;
  const NodeId filled = call.broadcast(call.scalar(neutral, call.dtype(x)), to);
  return keeps(call) ? filled : call.squeeze(filled, axes);
}

// Truth values in bytes, whose order they have.
NodeId largest(const Call& call, NodeId x, const std::vector<int64_t>& axes, bool least) {
  const DType type = call.dtype(x);
  if (type == DType::boolean) return call.cast(largest(call, call.cast(x, DType::u8), axes, least), type);
  if (least) x = call.turned(x);
  const auto empty = of_nothing(call, x, axes, exported::least_of(type));
  const NodeId y = empty ? *empty : call.reduce(ReduceKind::max, x, axes, keeps(call));
  return least ? call.turned(y) : y;
}

Outputs place_of_largest(const Call& call, NodeId x) {
  const int axis = call.axis(x, call.integer("axis", 0));
  if (call.integer("select_last_index", 0) == 0) return {call.arg_max(x, axis, keeps(call))};
  const NodeId last = call.scalar(static_cast<double>(call.shape(x)[axis] - 1), DType::i64);
  return {call.binary(BinaryKind::sub, last, call.arg_max(call.reversed(x, axis), axis, keeps(call)))};
}

NodeId running_product(const Call& call, NodeId x, int axis) { return call.running_product(x, axis); }
NodeId running_sum(const Call& call, NodeId x, int axis) {
  return call.cast(call.add(CumSum{axis}, {x}), call.dtype(x));
}

Outputs running(const Call& call, NodeId (*run)(const Call&, NodeId, int), double neutral) {
  NodeId x = call[0];
  const int axis = call.axis(x, call.integer_of(1));
  const bool turns = call.integer("reverse", 0) != 0;
  if (turns) x = call.reversed(x, axis);
  x = run(call, x, axis);
  if (call.integer("exclusive", 0) != 0) x = call.shifted(x, axis, 1, neutral);
  return {turns ? call.reversed(x, axis) : x};
}

}  // namespace

Outputs reduce_prod(const Call& call) {
  const auto axes = reduced_axes(call);
  return {axes && !axes->empty() ? call.product(call[0], *axes, keeps(call)) : call[0]};
}
Outputs reduce_log_sum(const Call& call) { return {call.unary(UnaryKind::log, reduce_sum(call)[0])}; }

Outputs reduce_log_sum_exp(const Call& call) {
  const NodeId x = call[0];
  const auto axes = reduced_axes(call);
  if (!axes) return {call.unary(UnaryKind::log, call.unary(UnaryKind::exp, x))};
  if (const auto empty = of_nothing(call, x, *axes, -INFINITY)) return {*empty};
  return {axes->empty() ? x : call.log_sum_exp(x, *axes, keeps(call))};
}

Outputs reduce_max(const Call& call) {
  const auto axes = reduced_axes(call);
  return {axes ? largest(call, call[0], *axes, false) : call[0]};
}
Outputs reduce_min(const Call& call) {
  const auto axes = reduced_axes(call);
  return {axes ? largest(call, call[0], *axes, true) : call[0]};
}

Outputs arg_max(const Call& call) { return place_of_largest(call, call[0]); }
Outputs arg_min(const Call& call) { return place_of_largest(call, call.turned(call[0])); }

Outputs top_k(const Call& call) {
  const int64_t k = call.version() < 10 ? call.integer("k") : call.integer_of(1);
  const auto top = call.top(call[0], k, call.integer("axis", -1), call.integer("largest", 1) == 0);
  return {top.values, top.places};
}

Outputs cumsum(const Call& call) { return running(call, running_sum, 0); }
Outputs cumprod(const Call& call) { return running(call, running_product, 1); }

// 1 at the first of the largest, 0 elsewhere. Files before opset 13 take all axes from `axis` on as one.
Outputs hardmax(const Call& call) {
  const bool flat = call.version() < 13;
  const NodeId x = flat ? flatten(call)[0] : call[0];
  const int axis = call.axis(x, flat ? 1 : call.integer("axis", -1));
  Tensor places({DType::i64, {call.shape(x)[axis]}});
  for (size_t i = 0; i < places.as<int64_t>().size(); ++i) places.as<int64_t>()[i] = static_cast<int64_t>(i);
  Shape along = Dims::filled(call.rank(x), 1);
  along[axis] = call.shape(x)[axis];
  const NodeId hit =
      call.binary(BinaryKind::eq, call.arg_max(x, axis, true), call.reshape(call.literal(places), along));
  return {call.reshape(call.cast(hit, call.dtype(x)), call.shape(call[0]))};
}

// x over its norm along an axis; 0 where that is 0.
Outputs lp_normalization(const Call& call) {
  const NodeId x = call[0], zero = call.scalar(0, call.dtype(x)), one = call.scalar(1, call.dtype(x));
  const int64_t axis = call.integer("axis", -1), p = call.integer("p", 2);
  if (p != 1 && p != 2) refuse("p: got {}, wanted 1 or 2", p);
  const NodeId sizes = call.unary(p == 1 ? UnaryKind::abs : UnaryKind::square, x);
  NodeId norm = call.reduce(ReduceKind::sum, sizes, {axis}, true);
  if (p == 2) norm = call.unary(UnaryKind::sqrt, norm);
  const NodeId none = call.binary(BinaryKind::eq, norm, zero);
  return {call.select(none, zero, call.binary(BinaryKind::div, x, call.select(none, one, norm)))};
}

// (x - mean) / (deviation + 1e-9)
Outputs mean_variance_normalization(const Call& call) {
  const NodeId x = call[0];
  const std::vector<int64_t> axes = call.integers("axes", {0, 2, 3});
  const NodeId centred = call.binary(BinaryKind::sub, x, call.reduce(ReduceKind::mean, x, axes, true));
  const NodeId variance = call.reduce(ReduceKind::mean, call.unary(UnaryKind::square, centred), axes, true);
  const NodeId deviation = call.unary(UnaryKind::sqrt, variance);
  return {
      call.binary(BinaryKind::div, centred, call.binary(BinaryKind::add, deviation, call.scalar(1e-9, call.dtype(x))))};
}

}  // namespace rung::onnx::operators
