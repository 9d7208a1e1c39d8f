// Rounds floats to integers by a scale and a zero point, and back.
// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/quantised.hpp"

#include <cmath>

#include "import/onnx/elements.hpp"
#include "import/onnx/tensors.hpp"

namespace rung::onnx {
namespace {

using exported::refuse;

struct Bounds {
  double least, most;
};

// Returns the bounds of the type that values are quantised to, by its number; none: a float, whose conversion has
// bounds of its own.
std::optional<Bounds> bounds_of(int64_t data_type) {
  const auto carried = carried_type(data_type);
  if (carried && is_float(carried->carrier)) return std::nullopt;
  const DType type = value_or_throw(dtype_of_number(data_type));
  const int bits = carried ? carried->bits : 8;
  const bool is_signed = carried ? carried->is_signed : type == DType::i8;
  if ((!carried && type != DType::i8 && type != DType::u8) || bits > 16)
    refuse("values quantised to {}, wanted integers of at most 16 bits or floats of at most 8", type);
  const double span = std::ldexp(1.0, bits);
  return is_signed ? Bounds{-span / 2, span / 2 - 1} : Bounds{0, span - 1};
}

// Puts the least number of the type in place of NaN, as ONNX Runtime does on x86; ONNX itself leaves it open. A mask of
// -inf that a quantiser saw has a scale of infinity, and the quotient of both is NaN.
NodeId without_nan(const Call& call, NodeId y, double least) {
  return call.select(call.binary(BinaryKind::eq, y, y), y, call.scalar(least, DType::f32));
}

// Steps of the scale, rounded to the type.
NodeId stored(const Call& call, NodeId steps, std::optional<NodeId> zero, int64_t data_type) {
  const auto bounds = bounds_of(data_type);
  NodeId y = bounds ? call.rounded_if_small(steps) : steps;  // the bounds are below 2^21
  if (zero) y = call.binary(BinaryKind::add, y, *zero);
  if (bounds) y = without_nan(call, call.clamp(y, bounds->least, bounds->most), bounds->least);
  return call.elements().noted(converted(call, y, data_type, call.integer("saturate", 1) != 0), data_type);
}

std::optional<NodeId> optional_number(const Call& call, size_t input) {
  return call.has(input) ? std::optional(one_number(call, input)) : std::nullopt;
}

}  // namespace

NodeId along(const Call& call, NodeId x, NodeId vector, int axis) {
  const NodeId wide = call.cast(vector, DType::f32);
  if (call.type(vector).elements() == 1) return call.reshape(wide, Shape{});
  if (call.rank(vector) != 1) refuse("scales of {}, wanted one axis", call.type(vector));
  Shape to = Dims::filled(call.rank(x), 1);
  to[axis] = call.shape(vector)[0];
  if (to[axis] != call.shape(x)[axis]) refuse("{} scales for an axis of {}", to[axis], call.shape(x)[axis]);
  return call.reshape(wide, to);
}

NodeId by_block(const Call& call, NodeId x, NodeId vector, int axis, int64_t block) {
  const int64_t extent = call.shape(x)[axis];
  Shape blocks = call.shape(vector);
  if (block < 1 || block > exported::kMostMade || blocks.rank() != call.rank(x) ||
      blocks[axis] != (extent + block - 1) / block)
    refuse("scales of {} for blocks of {} along axis {} of {}", call.type(vector), block, axis, call.type(x));
  const NodeId apart = call.unsqueeze(call.cast(vector, DType::f32), axis + 1);
  Shape repeated = call.shape(apart);
  repeated[axis + 1] = block;
  blocks[axis] *= block;
  return call.slice(call.reshape(call.broadcast(apart, repeated), blocks), axis, 0, extent);
}

NodeId one_number(const Call& call, size_t input) {
  if (call.type(call[input]).elements() != 1)
    refuse("input {}: got {}, wanted one number", input, call.type(call[input]));
  return call.reshape(call.cast(call[input], DType::f32), Shape{});
}

int64_t type_number(const Call& call, size_t input) {
  if (const auto carried = call.elements().of(call[input])) return carried->number;
  const DType type = call.dtype(call[input]);
  if (type != DType::u8 && type != DType::i8) refuse("a zero point of {}", call.type(call[input]));
  return type == DType::u8 ? kU8 : kI8;
}

NodeId dequantised(const Call& call, const QuantisedInput& input) {
  NodeId steps = call.cast(call[input.value], DType::f32);
  if (const auto zero = optional_number(call, input.zero)) steps = call.binary(BinaryKind::sub, steps, *zero);
  return call.binary(BinaryKind::mul, steps, one_number(call, input.scale));
}

NodeId quantised(const Call& call, NodeId x, NodeId scale, std::optional<NodeId> zero, int64_t data_type) {
  return stored(call, call.binary(BinaryKind::div, call.cast(x, DType::f32), scale), zero, data_type);
}

NodeId quantised_by(const Call& call, NodeId x, size_t scale, size_t zero, size_t typed) {
  return quantised(call, x, one_number(call, scale), optional_number(call, zero),
                   type_number(call, call.has(zero) ? zero : typed));
}

NodeId rescaled(const Call& call, NodeId sums, NodeId factor, size_t zero, size_t typed) {
  return stored(call, call.binary(BinaryKind::mul, call.cast(sums, DType::f32), factor), optional_number(call, zero),
                type_number(call, call.has(zero) ? zero : typed));
}

// Where all of x is 0 the scale is 1, as in ONNX Runtime.
DynamicallyQuantised dynamically_quantised(const Call& call, NodeId x) {
  const NodeId none = call.scalar(0, DType::f32);
  const NodeId most = call.binary(BinaryKind::max, call.reduce(ReduceKind::max, x, {}, false), none);
  const NodeId least = call.binary(BinaryKind::min, call.least(x, {}, false), none);
  const NodeId span = call.binary(BinaryKind::sub, most, least);
  const NodeId scale = call.select(call.binary(BinaryKind::eq, span, none), call.scalar(1, DType::f32),
                                   call.binary(BinaryKind::div, span, call.scalar(255, DType::f32)));
  const NodeId offset = call.unary(UnaryKind::neg, call.binary(BinaryKind::div, least, scale));
  const NodeId zero = call.rounded_if_small(call.clamp(offset, 0, 255));
  return {quantised(call, x, scale, zero, kU8), scale, call.cast(zero, DType::u8)};
}

}  // namespace rung::onnx
