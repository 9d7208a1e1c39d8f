// Further element-wise operators of ONNX graphs: trigonometry, bits, and activations of few models.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "import/onnx/elements.hpp"
#include "import/onnx/operators.hpp"

namespace rung::onnx::operators {
namespace {

using exported::refuse;
using exported::Rounding;

NodeId formula(const Call& call, FormulaKind kind, NodeId x) { return call.add(Formula{kind}, {x}); }
NodeId formula(const Call& call, FormulaKind kind, NodeId x, NodeId y) { return call.add(Formula{kind}, {x, y}); }
Outputs of_x(const Call& call, FormulaKind kind) { return {formula(call, kind, call[0])}; }
NodeId plus(const Call& call, NodeId x, double y) {
  return call.binary(BinaryKind::add, x, call.scalar(y, call.dtype(x)));
}
NodeId below(const Call& call, NodeId x, double y) {
  return call.binary(BinaryKind::lt, x, call.scalar(y, call.dtype(x)));
}
NodeId above(const Call& call, NodeId x, double y) {
  return call.binary(BinaryKind::gt, x, call.scalar(y, call.dtype(x)));
}
NodeId zero(const Call& call, NodeId x) { return call.scalar(0, call.dtype(x)); }
// exp(x) - 1
NodeId curve(const Call& call, NodeId x) { return formula(call, FormulaKind::expm1, x); }

}  // namespace

Outputs tan(const Call& call) { return of_x(call, FormulaKind::tan); }
Outputs asin(const Call& call) { return of_x(call, FormulaKind::asin); }
Outputs acos(const Call& call) { return of_x(call, FormulaKind::acos); }
Outputs atan(const Call& call) { return of_x(call, FormulaKind::atan); }
Outputs sinh(const Call& call) { return of_x(call, FormulaKind::sinh); }
Outputs cosh(const Call& call) { return of_x(call, FormulaKind::cosh); }
Outputs asinh(const Call& call) { return of_x(call, FormulaKind::asinh); }
Outputs acosh(const Call& call) { return of_x(call, FormulaKind::acosh); }
Outputs atanh(const Call& call) { return of_x(call, FormulaKind::atanh); }

Outputs bit_and(const Call& call) { return {formula(call, FormulaKind::bit_and, call[0], call[1])}; }
Outputs bit_or(const Call& call) { return {formula(call, FormulaKind::bit_or, call[0], call[1])}; }
Outputs bit_xor(const Call& call) { return {formula(call, FormulaKind::bit_xor, call[0], call[1])}; }
Outputs bit_not(const Call& call) {
  const DType type = call.dtype(call[0]);
  return {formula(call, FormulaKind::bit_xor, call[0], call.scalar(type == DType::u8 ? 255 : -1, type))};
}
Outputs bit_shift(const Call& call) {
  const std::string way = call.text("direction", "");
  if (way != "LEFT" && way != "RIGHT") refuse("direction: got '{}', wanted LEFT or RIGHT", way);
  const FormulaKind kind = way == "LEFT" ? FormulaKind::shift_left : FormulaKind::shift_right;
  return {formula(call, kind, call[0], call[1])};
}

// The remainder of a division, with the divisor's sign, or the dividend's where fmod says so.
Outputs mod(const Call& call) {
  const bool of_dividend = call.integer("fmod", 0) != 0;
  return {formula(call, of_dividend ? FormulaKind::fmod : FormulaKind::floor_mod, call[0], call[1])};
}

Outputs is_inf(const Call& call) {
  const NodeId x = call[0], wide = call.cast(x, DType::f32);
  const auto equals = [&](double value) { return call.binary(BinaryKind::eq, wide, call.scalar(value, DType::f32)); };
  const bool negative = call.integer("detect_negative", 1) != 0, positive = call.integer("detect_positive", 1) != 0;
  if (negative && positive) return {call.binary(BinaryKind::logical_or, equals(-INFINITY), equals(INFINITY))};
  if (negative || positive) return {equals(negative ? -INFINITY : INFINITY)};
  return {call.broadcast(call.literal(Tensor::of<bool>({}, {false})), call.shape(x))};
}

// max(0, x) + min(0, alpha (exp(x / alpha) - 1))
Outputs celu(const Call& call) {
  const NodeId x = call[0];
  const double alpha = call.number("alpha", 1);
  const NodeId low = call.scale(curve(call, call.scale(call.clamp(x, std::nullopt, 0), 1 / alpha)), alpha);
  return {call.binary(BinaryKind::add, call.unary(UnaryKind::relu, x), call.clamp(low, std::nullopt, 0))};
}
Outputs selu(const Call& call) {
  const NodeId x = call[0];
  const double alpha = call.number("alpha", 1.67326319217681884765625);
  const NodeId low = call.scale(curve(call, call.clamp(x, std::nullopt, 0)), alpha);
  return {call.scale(call.select(above(call, x, 0), x, low), call.number("gamma", 1.05070102214813232421875))};
}
Outputs thresholded_relu(const Call& call) {
  const NodeId x = call[0];
  return {call.select(above(call, x, call.number("alpha", 1)), x, zero(call, x))};
}
// The slope broadcasts to x; in older files it is one for each channel, axis 1.
Outputs prelu(const Call& call) {
  const NodeId x = call[0];
  NodeId slope = call[1];
  if (call.version() < 7 && call.rank(slope) == 1 && call.rank(x) > 1) {
    Shape channels = Dims::filled(call.rank(x) - 1, 1);
    channels[0] = call.type(slope).elements();
    slope = call.reshape(slope, channels);
  }
  return {call.select(below(call, x, 0), call.binary(BinaryKind::mul, x, slope), x)};
}
// x drawn to 0 by the bias, and 0 within lambd of it.
Outputs shrink(const Call& call) {
  const NodeId x = call[0];
  const double bias = call.number("bias", 0), bound = call.number("lambd", 0.5);
  const NodeId low = call.select(below(call, x, -bound), plus(call, x, bias), zero(call, x));
  return {call.select(above(call, x, bound), plus(call, x, -bias), low)};
}
Outputs mean_of_inputs(const Call& call) {
  return {call.scale(sum_of_inputs(call)[0], 1 / static_cast<double>(call.count()))};
}

}  // namespace rung::onnx::operators
