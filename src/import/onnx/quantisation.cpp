// Quantised values of ONNX graphs: computed as floats with the roundings that the operators say.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "import/onnx/elements.hpp"
#include "import/onnx/operators.hpp"
#include "import/onnx/tensors.hpp"

namespace rung::onnx::operators {
namespace {

using exported::refuse;
using exported::Rounding;

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

// A scale or a zero point, in f32, where it broadcasts to x: one number, one for each place of the axis, or one for
// each block of neighbours along it.
NodeId along_axis(const Call& call, NodeId x, NodeId vector) {
  const NodeId wide = call.cast(vector, DType::f32);
  const int64_t block = call.integer("block_size", 0);
  if (block == 0 && call.type(vector).elements() == 1) return call.reshape(wide, Shape{});
  const int axis = call.axis(x, call.integer("axis", 1));
  const int64_t extent = call.shape(x)[axis];
  if (block != 0) {
    Shape blocks = call.shape(vector);
    if (block < 1 || block > exported::kMostMade || blocks.rank() != call.rank(x) ||
        blocks[axis] != (extent + block - 1) / block)
      refuse("scales of {} for blocks of {} along axis {} of {}", call.type(vector), block, axis, call.type(x));
    const NodeId apart = call.unsqueeze(wide, axis + 1);
    Shape repeated = call.shape(apart);
    repeated[axis + 1] = block;
    blocks[axis] *= block;
    return call.slice(call.reshape(call.broadcast(apart, repeated), blocks), axis, 0, extent);
  }
  if (call.rank(vector) != 1) refuse("scales of {}, wanted one axis", call.type(vector));
  Shape to = Dims::filled(call.rank(x), 1);
  to[axis] = call.shape(vector)[0];
  if (to[axis] != extent) refuse("{} scales for an axis of {}", to[axis], extent);
  return call.reshape(wide, to);
}

// round(x / scale) + zero, within the type's bounds.
NodeId quantised(const Call& call, NodeId x, NodeId scale, std::optional<NodeId> zero, int64_t data_type) {
  const auto bounds = bounds_of(data_type);
  NodeId y = call.binary(BinaryKind::div, call.cast(x, DType::f32), scale);
  if (bounds) y = call.rounded(y, Rounding::nearest_even);
  if (zero) y = call.binary(BinaryKind::add, y, *zero);
  if (bounds) y = call.clamp(y, bounds->least, bounds->most);
  return call.elements().noted(converted(call, y, data_type, call.integer("saturate", 1) != 0), data_type);
}

constexpr int64_t kU8 = 2, kI8 = 3;

// The number of the type of an input.
int64_t type_number(const Call& call, size_t input) {
  if (const auto carried = call.elements().of(call[input])) return carried->number;
  const DType type = call.dtype(call[input]);
  if (type != DType::u8 && type != DType::i8) refuse("a zero point of {}", call.type(call[input]));
  return type == DType::u8 ? kU8 : kI8;
}

// Products of integers in f32, a number of terms at a time whose sum is exact; i32.
NodeId product_of_integers(const Call& call, NodeId a, NodeId b) {
  constexpr int64_t kExactTerms = 256;  // of two factors within +-255: below 2^24
  const int64_t terms = call.shape(a).back();
  const int rows = call.rank(b) == 1 ? 0 : call.rank(b) - 2;
  std::optional<NodeId> sum;
  for (int64_t begin = 0; begin == 0 || begin < terms; begin += kExactTerms) {
    const NodeId part = call.cast(
        call.matmul(call.slice(a, -1, begin, begin + kExactTerms), call.slice(b, rows, begin, begin + kExactTerms)),
        DType::i32);
    sum = sum ? call.binary(BinaryKind::add, *sum, part) : part;
  }
  return *sum;
}

// Values less their zero point, in f32. A vector of zero points is one for each row, or for each column.
NodeId centred(const Call& call, size_t input, size_t zero, bool by_row) {
  const NodeId x = call[input], wide = call.cast(x, DType::f32);
  if (call.dtype(x) != DType::u8 && call.dtype(x) != DType::i8) refuse("a product of {}", call.type(x));
  if (!call.has(zero)) return wide;
  NodeId point = call.cast(call[zero], DType::f32);
  if (by_row && call.rank(point) == 1 && call.type(point).elements() > 1) point = call.unsqueeze(point, 1);
  if (call.type(point).elements() == 1) point = call.reshape(point, Shape{});
  return call.binary(BinaryKind::sub, wide, point);
}

}  // namespace

Outputs quantize_linear(const Call& call) {
  const NodeId x = call[0], scale = along_axis(call, x, call[1]);
  if (call.has(2)) return {quantised(call, x, scale, along_axis(call, x, call[2]), type_number(call, 2))};
  const int64_t number = call.integer("output_dtype", 0);
  return {quantised(call, x, scale, std::nullopt, number == 0 ? kU8 : number)};
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
  return {quantised(call, x, scale, point, kU8), scale, call.cast(point, DType::u8)};
}

Outputs matmul_integer(const Call& call) {
  return {product_of_integers(call, centred(call, 0, 2, true), centred(call, 1, 3, false))};
}

// a, its scale and zero point, b with its own, then those of the result.
Outputs qlinear_matmul(const Call& call) {
  const auto scale = [&](size_t input, bool by_row) {
    const NodeId wide = call.cast(call[input], DType::f32);
    if (call.type(wide).elements() == 1) return call.reshape(wide, Shape{});
    return by_row && call.rank(wide) == 1 ? call.unsqueeze(wide, 1) : wide;
  };
  const NodeId product = product_of_integers(call, centred(call, 0, 2, true), centred(call, 3, 5, false));
  NodeId y = call.cast(product, DType::f32);
  for (const NodeId factor : {scale(1, true), scale(4, false)}) y = call.binary(BinaryKind::mul, y, factor);
  const NodeId point = call.cast(call[7], DType::f32);
  return {quantised(call, y, scale(6, true), point, type_number(call, 7))};
}

}  // namespace rung::onnx::operators
