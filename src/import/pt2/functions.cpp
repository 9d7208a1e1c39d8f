// Operators of exported programs that few models call: trigonometry, remainders, bits.
// SPDX-License-Identifier: Apache-2.0
#include <cfloat>
#include <limits>
#include <numbers>

#include "import/pt2/operators.hpp"

namespace rung::pt2::operators {
namespace {

using exported::refuse;

Values of_self(const Call& call, FormulaKind kind) {
  return one(call.add(Formula{kind}, {call.in_floats(call.tensor("self"))}));
}

Values of_both(const Call& call, FormulaKind kind) {
  const auto [a, b] = call.both();
  return one(call.add(Formula{kind}, {a, b}));
}

// Both as floats of one type.
Call::Pair float_pair(const Call& call) {
  const auto [a, b] = call.both();
  return {call.in_floats(a), call.in_floats(b)};
}

Values bits(const Call& call, FormulaKind kind, BinaryKind of_truths) {
  const NodeId a = call.tensor("self"), b = call.tensor_or_number("other", a);
  if (call.dtype(a) != DType::boolean || call.dtype(b) != DType::boolean) return of_both(call, kind);
  return one(call.binary(of_truths, a, b));
}

NodeId add(const Call& call, NodeId a, NodeId b) { return call.binary(BinaryKind::add, a, b); }
NodeId sub(const Call& call, NodeId a, NodeId b) { return call.binary(BinaryKind::sub, a, b); }
NodeId mul(const Call& call, NodeId a, NodeId b) { return call.binary(BinaryKind::mul, a, b); }
// A number of x's type.
NodeId number(const Call& call, NodeId x, double value) { return call.scalar(value, call.dtype(x)); }

// log(1 + exp(-|x|))
NodeId log_of_one_more(const Call& call, NodeId x) {
  const NodeId small = call.unary(UnaryKind::exp, call.unary(UnaryKind::neg, call.unary(UnaryKind::abs, x)));
  return call.unary(UnaryKind::log, add(call, small, number(call, x, 1)));
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

NodeId infinite(const Call& call, NodeId x) {
  return call.binary(BinaryKind::eq, call.unary(UnaryKind::abs, x), number(call, x, kInfinity));
}

Values is_infinite(const Call& call, bool positive) {
  const NodeId x = call.tensor("self");
  return one(call.binary(BinaryKind::eq, x, number(call, x, positive ? kInfinity : -kInfinity)));
}

}  // namespace

Values tan(const Call& call) { return of_self(call, FormulaKind::tan); }
Values asin(const Call& call) { return of_self(call, FormulaKind::asin); }
Values acos(const Call& call) { return of_self(call, FormulaKind::acos); }
Values atan(const Call& call) { return of_self(call, FormulaKind::atan); }
Values sinh(const Call& call) { return of_self(call, FormulaKind::sinh); }
Values cosh(const Call& call) { return of_self(call, FormulaKind::cosh); }
Values asinh(const Call& call) { return of_self(call, FormulaKind::asinh); }
Values acosh(const Call& call) { return of_self(call, FormulaKind::acosh); }
Values atanh(const Call& call) { return of_self(call, FormulaKind::atanh); }
Values log1p(const Call& call) { return of_self(call, FormulaKind::log1p); }
Values expm1(const Call& call) { return of_self(call, FormulaKind::expm1); }
Values atan2(const Call& call) {
  const auto [a, b] = float_pair(call);
  return one(call.add(Formula{FormulaKind::atan2}, {a, b}));
}
// self + weight (end - self)
Values lerp(const Call& call) {
  const NodeId x = call.tensor("self");
  const auto met = call.in_common_type({x, call.tensor("end"), call.tensor_or_number("weight", x)});
  return one(add(call, met[0], mul(call, met[2], sub(call, met[1], met[0]))));
}
// self + value tensor1 tensor2, or their quotient.
Values sum_with(const Call& call, BinaryKind kind) {
  const auto met = call.in_common_type({call.tensor("self"), call.tensor("tensor1"), call.tensor("tensor2")});
  return one(add(call, met[0], call.scale(call.binary(kind, met[1], met[2]), call.number("value", 1))));
}
Values addcmul(const Call& call) { return sum_with(call, BinaryKind::mul); }
Values addcdiv(const Call& call) { return sum_with(call, BinaryKind::div); }
Values erfc(const Call& call) {
  const NodeId x = call.in_floats(call.tensor("self"));
  return one(sub(call, number(call, x, 1), call.unary(UnaryKind::erf, x)));
}
Values frac(const Call& call) {
  const NodeId x = call.tensor("self");
  return one(sub(call, x, call.rounded(x, exported::Rounding::to_zero)));
}
Values isinf(const Call& call) { return one(infinite(call, call.tensor("self"))); }
Values isposinf(const Call& call) { return is_infinite(call, true); }
Values isneginf(const Call& call) { return is_infinite(call, false); }
Values isfinite(const Call& call) {
  const NodeId x = call.tensor("self");
  return one(call.binary(BinaryKind::lt, call.unary(UnaryKind::abs, x), number(call, x, kInfinity)));
}
Values nan_to_num(const Call& call) {
  const NodeId x = call.tensor("self");
  const double most = call.dtype(x) == DType::f16 ? 65504 : call.dtype(x) == DType::bf16 ? 0x1.fep127 : FLT_MAX;
  const auto replaced = [&](NodeId condition, double value, NodeId rest) {
    return call.select(condition, number(call, x, value), rest);
  };
  NodeId y = replaced(isposinf(call)[0].node()->id, call.optional_number("posinf").value_or(most), x);
  y = replaced(isneginf(call)[0].node()->id, call.optional_number("neginf").value_or(-most), y);
  return one(replaced(call.binary(BinaryKind::ne, x, x), call.optional_number("nan").value_or(0), y));
}
// log(x / (1 - x)), of x no nearer to 0 and 1 than eps.
Values logit(const Call& call) {
  NodeId x = call.in_floats(call.tensor("self"));
  if (const auto eps = call.optional_number("eps")) x = call.clamp(x, *eps, 1 - *eps);
  return one(call.unary(UnaryKind::log, call.binary(BinaryKind::div, x, sub(call, number(call, x, 1), x))));
}
Values log_sigmoid(const Call& call) {
  const NodeId x = call.tensor("self");
  return one(sub(call, call.clamp(x, std::nullopt, 0), log_of_one_more(call, x)));
}
// log(exp(a) + exp(b))
Values logaddexp(const Call& call) {
  const auto [a, b] = call.both();
  const NodeId larger = call.binary(BinaryKind::max, a, b);
  const NodeId sum = add(call, larger, log_of_one_more(call, sub(call, a, b)));
  const NodeId both_infinite =
      call.binary(BinaryKind::logical_and, call.binary(BinaryKind::eq, a, b), infinite(call, a));
  return one(call.select(both_infinite, larger, sum));
}
Values hypot(const Call& call) {
  const auto [a, b] = call.both();
  const auto squared = [&](NodeId x) { return call.unary(UnaryKind::square, x); };
  return one(call.unary(UnaryKind::sqrt, add(call, squared(a), squared(b))));
}
// The size of one with the sign of the other, of which a zero's shows in its reciprocal.
Values copysign(const Call& call) {
  const auto [x, sign] = float_pair(call);
  const NodeId zero = call.scalar(0, call.dtype(x));
  const NodeId is_zero = call.binary(BinaryKind::eq, sign, zero);
  const NodeId side = call.select(is_zero, call.unary(UnaryKind::reciprocal, sign), sign);
  const NodeId size = call.unary(UnaryKind::abs, x);
  return one(call.select(call.binary(BinaryKind::lt, side, zero), call.unary(UnaryKind::neg, size), size));
}
// Whether an element is one of those of a list.
Values isin(const Call& call) {
  const NodeId x = call.tensor("elements");
  const char* name = call.has("test_elements") ? "test_elements" : "test_element";
  const NodeId listed = call.flat(call.tensor_or_number(name, x));
  const DType type = exported::promoted(call.dtype(x), call.dtype(listed));
  const NodeId is_one = call.binary(BinaryKind::eq, call.unsqueeze(call.cast(x, type), -1), call.cast(listed, type));
  const NodeId any = call.reduce(ReduceKind::max, call.cast(is_one, DType::f32), {-1}, false);
  const NodeId is_in = call.cast(any, DType::boolean);
  return one(call.flag("invert") ? call.unary(UnaryKind::logical_not, is_in) : is_in);
}
// x log(y), 0 where x is.
Values xlogy(const Call& call) {
  const auto [x, y] = float_pair(call);
  const NodeId product = mul(call, x, call.unary(UnaryKind::log, y));
  const NodeId is_zero = call.binary(BinaryKind::eq, x, number(call, x, 0));
  return one(call.select(is_zero, number(call, product, 0), product));
}
// sin(pi x) / (pi x), 1 at 0.
Values sinc(const Call& call) {
  const NodeId x = call.in_floats(call.tensor("self")), angle = call.scale(x, std::numbers::pi);
  const NodeId quotient = call.binary(BinaryKind::div, call.unary(UnaryKind::sin, angle), angle);
  return one(call.select(call.binary(BinaryKind::eq, x, number(call, x, 0)), number(call, x, 1), quotient));
}
Values deg2rad(const Call& call) {
  return one(call.scale(call.in_floats(call.tensor("self")), std::numbers::pi / 180));
}
Values rad2deg(const Call& call) {
  return one(call.scale(call.in_floats(call.tensor("self")), 180 / std::numbers::pi));
}
// x beyond a threshold on either side, else 0.
Values hardshrink(const Call& call) {
  const NodeId x = call.tensor("self");
  const NodeId small =
      call.binary(BinaryKind::le, call.unary(UnaryKind::abs, x), number(call, x, call.number("lambd", 0.5)));
  return one(call.select(small, number(call, x, 0), x));
}
// x, nearer to 0 by a number.
Values softshrink(const Call& call) {
  const NodeId x = call.tensor("self");
  const double by = call.number("lambd", 0.5);
  return one(sub(call, x, call.clamp(x, -by, by)));
}
Values threshold(const Call& call) {
  const NodeId x = call.tensor("self");
  const NodeId low = call.binary(BinaryKind::le, x, number(call, x, call.number("threshold")));
  return one(call.select(low, number(call, x, call.number("value")), x));
}
// One half of an axis times the sigmoid of the other.
Values glu(const Call& call) {
  const NodeId x = call.tensor("self");
  const int at = call.axis(x, call.integer("dim", -1));
  if (call.shape(x)[at] % 2) refuse("halves of {} elements", call.shape(x)[at]);
  const auto halves = call.split_evenly(x, at, std::max<int64_t>(1, call.shape(x)[at] / 2));
  return one(mul(call, halves.at(0), call.unary(UnaryKind::sigmoid, halves.at(1))));
}
Values fmod(const Call& call) { return of_both(call, FormulaKind::fmod); }
Values bitwise_and(const Call& call) { return bits(call, FormulaKind::bit_and, BinaryKind::logical_and); }
Values bitwise_or(const Call& call) { return bits(call, FormulaKind::bit_or, BinaryKind::logical_or); }
Values bitwise_xor(const Call& call) { return bits(call, FormulaKind::bit_xor, BinaryKind::ne); }
Values shift_left(const Call& call) { return of_both(call, FormulaKind::shift_left); }
Values shift_right(const Call& call) { return of_both(call, FormulaKind::shift_right); }

}  // namespace rung::pt2::operators
