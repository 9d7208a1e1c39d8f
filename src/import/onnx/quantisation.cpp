// Quantised values of ONNX graphs: computed as floats with the roundings that the operators say.
// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/operators.hpp"
#include "import/onnx/tensors.hpp"

namespace rung::onnx::operators {
namespace {

using exported::refuse;
using exported::Rounding;

struct Bounds {
  double least, most;
};

Bounds bounds_of(DType type) {
  if (type == DType::u8) return {0, 255};
  if (type == DType::i8) return {-128, 127};
  refuse("values quantised to {}, wanted u8 or i8", type);
}

// A scale or a zero point, in f32, where it broadcasts to x: one number, or one for each place of the axis.
NodeId along_axis(const Call& call, NodeId x, NodeId vector) {
  const NodeId wide = call.cast(vector, DType::f32);
  if (call.rank(vector) == 0 || call.type(vector).elements() == 1) return call.reshape(wide, Shape{});
  if (call.integer("block_size", 0) != 0 || call.rank(vector) != 1) refuse("scales of blocks, {}", call.type(vector));
  const int axis = call.axis(x, call.integer("axis", 1));
  Shape to = Dims::filled(call.rank(x), 1);
  to[axis] = call.shape(vector)[0];
  if (to[axis] != call.shape(x)[axis]) refuse("{} scales for an axis of {}", to[axis], call.shape(x)[axis]);
  return call.reshape(wide, to);
}

// round(x / scale) + zero, within the type's bounds.
NodeId quantised(const Call& call, NodeId x, NodeId scale, std::optional<NodeId> zero, DType type) {
  const auto [least, most] = bounds_of(type);
  NodeId y = call.binary(BinaryKind::div, call.cast(x, DType::f32), scale);
  y = call.rounded(y, Rounding::nearest_even);
  if (zero) y = call.binary(BinaryKind::add, y, *zero);
  return call.cast(call.clamp(y, least, most), type);
}

}  // namespace

Outputs quantize_linear(const Call& call) {
  const NodeId x = call[0], scale = along_axis(call, x, call[1]);
  if (call.has(2)) return {quantised(call, x, scale, along_axis(call, x, call[2]), call.dtype(call[2]))};
  const int64_t number = call.integer("output_dtype", 0);
  return {quantised(call, x, scale, std::nullopt, number == 0 ? DType::u8 : value_or_throw(dtype_of_number(number)))};
}

// (x - zero) scale; weights whose values lie in the file become floats when a plan is built.
Outputs dequantize_linear(const Call& call) {
  const NodeId x = call[0], scale = along_axis(call, x, call[1]);
  NodeId y = call.cast(x, DType::f32);
  if (call.has(2)) y = call.binary(BinaryKind::sub, y, along_axis(call, x, call[2]));
  return {call.cast(call.binary(BinaryKind::mul, y, scale), call.dtype(call[1]))};
}

// Bounds that hold 0, in 255 steps.
Outputs dynamic_quantize_linear(const Call& call) {
  const NodeId x = call[0], zero = call.scalar(0, DType::f32);
  const NodeId most = call.binary(BinaryKind::max, call.reduce(ReduceKind::max, x, {}, false), zero);
  const NodeId least = call.binary(BinaryKind::min, call.least(x, {}, false), zero);
  const NodeId scale =
      call.binary(BinaryKind::div, call.binary(BinaryKind::sub, most, least), call.scalar(255, DType::f32));
  const NodeId offset = call.unary(UnaryKind::neg, call.binary(BinaryKind::div, least, scale));
  const NodeId point = call.rounded(call.clamp(offset, 0, 255), Rounding::nearest_even);
  return {quantised(call, x, scale, point, DType::u8), scale, call.cast(point, DType::u8)};
}

}  // namespace rung::onnx::operators
