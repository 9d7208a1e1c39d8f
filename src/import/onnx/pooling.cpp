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

}  // namespace rung::onnx::operators
