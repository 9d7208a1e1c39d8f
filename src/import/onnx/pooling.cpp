// Pooling of ONNX graphs.
// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/layouts.hpp"
#include "import/onnx/operators.hpp"
#include "import/onnx/windows.hpp"

namespace rung::onnx::operators {
namespace {

using exported::refuse;
using Emit = exported::Emit;

NodeId number(const Call& call, int64_t value) {
  Tensor tensor({DType::i64, {}});
  tensor.as<int64_t>()[0] = value;
  return call.literal(tensor);
}

// Places among the elements of one channel, as ONNX counts them: among all elements of x, columns first if so ordered.
NodeId places_in_x(const Call& call, NodeId places) {
  const Shape& x = call.shape(call[0]);
  const int64_t channel = x.product() / std::max<int64_t>(1, x[0] * x[1]);
  if (call.integer("storage_order", 0) != 0 && x.rank() > 3) {
    if (x.rank() > 4) refuse("places by columns in {}", call.type(call[0]));
    const NodeId row = call.binary(BinaryKind::div, places, number(call, x[3]));
    const NodeId begin = call.binary(BinaryKind::mul, row, number(call, x[3]));
    const NodeId column = call.binary(BinaryKind::sub, places, begin);
    places = call.binary(BinaryKind::add, call.binary(BinaryKind::mul, column, number(call, x[2])), row);
  }
  Tensor begins({DType::i64, {x[0], x[1]}});
  if (begins.type().elements() > exported::kMostMade) refuse("places of {}", call.type(call[0]));
  for (size_t i = 0; i < begins.as<int64_t>().size(); ++i) begins.as<int64_t>()[i] = static_cast<int64_t>(i) * channel;
  Shape planes = Dims::filled(x.rank(), 1);
  planes[0] = x[0], planes[1] = x[1];
  return call.binary(BinaryKind::add, places, call.reshape(call.literal(begins), planes));
}

NodeId power(const Call& call, NodeId x, double exponent) {
  if (const auto special = call.power(x, exponent)) return *special;
  return call.binary(BinaryKind::pow, x, call.scalar(exponent, call.dtype(x)));
}

}  // namespace

Outputs max_pool(const Call& call) {
  const DType type = call.dtype(call[0]);
  const NodeId x = is_float(type) ? call[0] : call.cast(call[0], DType::f32);
  Emit::PoolCall pool = described_pool(call, x, ReduceKind::max);
  pool.places = call.node().outputs.size() > 1 && !call.node().outputs[1].empty();
  const Emit::Pooled pooled = call.pool(pool);
  const NodeId values = call.cast(pooled.values, type);
  if (!pool.places) return {values};
  return {values, places_in_x(call, pooled.places)};
}

// Channels stand behind the other axes.
Outputs nhwc_max_pool(const Call& call) {
  const NodeId x = channels_first(call, call.cast(call[0], DType::f32));
  const NodeId largest = call.pool(described_pool(call, x, ReduceKind::max)).values;
  return {call.cast(channels_last(call, largest), call.dtype(call[0]))};
}

Outputs average_pool(const Call& call) {
  Emit::PoolCall pool = described_pool(call, call[0], ReduceKind::mean);
  pool.counts_padding = call.integer("count_include_pad", 0) != 0;
  return {call.pool(pool).values};
}

// The p-th root of the sum of p-th powers.
Outputs lp_pool(const Call& call) {
  const auto p = static_cast<double>(call.integer("p", 2));
  if (p < 1) refuse("a norm with p = {}", p);
  const NodeId powers = power(call, call.unary(UnaryKind::abs, call[0]), p);
  return {power(call, call.pool(described_pool(call, powers, ReduceKind::sum)).values, 1 / p)};
}

Outputs global_average_pool(const Call& call) {
  return {call.reduce(ReduceKind::mean, call[0], axes_of_places(call, call[0]), true)};
}
Outputs global_max_pool(const Call& call) {
  return {call.reduce(ReduceKind::max, call[0], axes_of_places(call, call[0]), true)};
}
Outputs global_lp_pool(const Call& call) {
  const auto p = static_cast<double>(call.integer("p", 2));
  if (p < 1) refuse("a norm with p = {}", p);
  const NodeId powers = power(call, call.unary(UnaryKind::abs, call[0]), p);
  return {power(call, call.reduce(ReduceKind::sum, powers, axes_of_places(call, call[0]), true), 1 / p)};
}

// Each element of x at its place among all elements of the result, zeros elsewhere; then zeros behind each axis.
Outputs max_unpool(const Call& call) {
  const NodeId x = call[0];
  const int axes = call.rank(x) - 2;
  if (axes < 1 || call.shape(call[1]) != call.shape(x)) refuse("places of {} for {}", call.type(call[1]), call.type(x));
  const auto list = [&](std::string_view name, int64_t left_out, size_t count) {
    const auto numbers = call.integers(name, std::vector<int64_t>(count, left_out));
    if (numbers.size() != count) refuse("{}: got {} numbers, wanted {}", name, numbers.size(), count);
    return numbers;
  };
  const auto count = static_cast<size_t>(axes);
  const auto window = list("kernel_shape", 1, count), stride = list("strides", 1, count),
             pads = list("pads", 0, 2 * count);
  Shape made = call.shape(x);
  for (size_t i = 0; i < count; ++i) {
    int64_t& extent = made[static_cast<int>(i) + 2];
    for (const int64_t number : {window[i], stride[i], pads[i], pads[count + i]})
      if (number < 0 || number > exported::kMostMade) refuse("windows of {} in steps of {}", window[i], stride[i]);
    extent = (extent - 1) * stride[i] + window[i] - pads[i] - pads[count + i];
    if (extent < 1 || extent > exported::kMostMade) refuse("{} elements along axis {}", extent, i + 2);
  }
  const auto flat = [&](NodeId value) { return call.reshape(value, Shape{call.type(value).elements()}); };
  const NodeId zeros = call.broadcast(call.scalar(0, call.dtype(x)), Shape{made.product()});
  NodeId y = call.reshape(call.scatter(ScatterKind::set, zeros, flat(call.cast(call[1], DType::i64)), flat(x)), made);
  if (!call.has(2)) return {y};
  const std::vector<int64_t> wanted = call.integers_of(2);
  if (static_cast<int>(wanted.size()) != made.rank()) refuse("a result of {} axes for {}", wanted.size(), call.type(x));
  for (int axis = 0; axis < made.rank(); ++axis) {
    const int64_t more = wanted[static_cast<size_t>(axis)] - made[axis];
    if (more < 0) refuse("output_shape: got {} along axis {}, wanted {} or more", made[axis] + more, axis, made[axis]);
    y = call.padded(y, axis, 0, more, 0);
  }
  return {y};
}

}  // namespace rung::onnx::operators
