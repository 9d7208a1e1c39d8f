// Products and convolutions of quantised values in ONNX graphs, of ONNX's own operators and of ONNX Runtime's.
// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/integer_sums.hpp"
#include "import/onnx/layouts.hpp"
#include "import/onnx/operators.hpp"
#include "import/onnx/quantised.hpp"

namespace rung::onnx::operators {
namespace {

using exported::refuse;

// One scale, or one for each row of the first operand or each column of the second.
NodeId scales_at(const Call& call, size_t input, bool by_row) {
  const NodeId wide = call.cast(call[input], DType::f32);
  if (call.type(wide).elements() == 1) return call.reshape(wide, Shape{});
  return by_row && call.rank(wide) == 1 ? call.unsqueeze(wide, 1) : wide;
}

NodeId multiplied(const Call& call, NodeId a, NodeId b) { return call.binary(BinaryKind::mul, a, b); }

// sums factor + bias, in floats; the bias may be left out.
NodeId as_floats(const Call& call, NodeId sums, NodeId factor, size_t bias) {
  const NodeId y = multiplied(call, call.cast(sums, DType::f32), factor);
  return call.has(bias) ? call.binary(BinaryKind::add, y, call.cast(call[bias], DType::f32)) : y;
}

Integers turned_integers(const Call& call, Integers x, std::string_view attribute) {
  if (call.integer(attribute, 0) != 0) x.values = call.swap_axes(x.values, 0, 1);
  return x;
}

}  // namespace

Outputs matmul_integer(const Call& call) {
  return {integer_product(call, integers_at(call, 0, 2), integers_at(call, 1, 3))};
}

// a, its scale and zero point, b with its own, then those of the result.
Outputs qlinear_matmul(const Call& call) {
  const NodeId sums = integer_product(call, integers_at(call, 0, 2), integers_at(call, 3, 5));
  const NodeId product = multiplied(call, scales_at(call, 1, true), scales_at(call, 4, false));
  return {rescaled(call, sums, call.binary(BinaryKind::div, product, scales_at(call, 6, true)), 7, 7)};
}

Outputs conv_integer(const Call& call) {
  return {integer_convolution(call, integers_at(call, 0, 2), integers_at(call, 1, 3))};
}

// x, its scale and zero point, w with its own, those of the result, and a bias of the sums.
Outputs qlinear_conv(const Call& call) {
  const NodeId x = image_of(call, call[0]), w = call[3];
  NodeId sums = integer_convolution(call, {x, call.optional(2)}, {w, call.optional(5)});
  const auto by_channel = [&](NodeId vector) {
    if (call.rank(vector) != 1) refuse("a bias of {}, wanted one number for each channel", call.type(vector));
    Shape to = Dims::filled(call.rank(x), 1);
    to[1] = call.shape(vector)[0];
    return call.reshape(vector, to);
  };
  if (call.has(8)) sums = call.binary(BinaryKind::add, sums, by_channel(call[8]));
  const NodeId product =
      multiplied(call, one_number(call, 1), along(call, sums, call[4], call.type(call[4]).elements() == 1 ? 0 : 1));
  const NodeId factor = call.binary(BinaryKind::div, product, one_number(call, 6));
  return {as_given(call, rescaled(call, sums, factor, 7, 0))};
}

// alpha a b + c, of which c is a bias of the sums; in floats where the result has no scale.
Outputs qgemm(const Call& call) {
  const Integers a = turned_integers(call, integers_at(call, 0, 2), "transA");
  const Integers b = turned_integers(call, integers_at(call, 3, 5), "transB");
  NodeId sums = integer_product(call, a, b);
  if (call.has(6)) sums = call.binary(BinaryKind::add, sums, call[6]);
  NodeId factor = multiplied(call, one_number(call, 1), scales_at(call, 4, false));
  if (const double alpha = call.number("alpha", 1); alpha != 1)
    factor = multiplied(call, factor, call.scalar(alpha, DType::f32));
  if (!call.has(7)) return {multiplied(call, call.cast(sums, DType::f32), factor)};
  return {rescaled(call, sums, call.binary(BinaryKind::div, factor, one_number(call, 7)), 8, 0)};
}

Outputs matmul_integer_to_float(const Call& call) {
  const NodeId sums = integer_product(call, integers_at(call, 0, 4), integers_at(call, 1, 5));
  return {as_floats(call, sums, multiplied(call, one_number(call, 2), scales_at(call, 3, false)), 6)};
}

// Floats, which become integers by their own bounds, times integers.
Outputs dynamic_quantize_matmul(const Call& call) {
  const DynamicallyQuantised a = dynamically_quantised(call, call[0]);
  const NodeId sums = integer_product(call, {a.values, a.zero}, integers_at(call, 1, 3));
  return {as_floats(call, sums, multiplied(call, a.scale, scales_at(call, 2, false)), 4)};
}

}  // namespace rung::onnx::operators
