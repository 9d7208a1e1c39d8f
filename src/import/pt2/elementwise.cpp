// Element-wise operators of exported programs.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <numbers>

#include "import/pt2/operators.hpp"

namespace rung::pt2::operators {
namespace {

using exported::refuse;

// Truth values are 0 and 1 to an operator of numbers, and so is its result.
BinaryKind of_truths(BinaryKind kind) {
  if (kind == BinaryKind::mul || kind == BinaryKind::min) return BinaryKind::logical_and;
  return kind == BinaryKind::add || kind == BinaryKind::max ? BinaryKind::logical_or : kind;
}

Values binary(const Call& call, BinaryKind kind) {
  const auto [a, b] = call.both();
  return one(call.binary(call.dtype(a) == DType::boolean ? of_truths(kind) : kind, a, b));
}

// a + alpha b, with a and b in either order for a difference.
Values sum(const Call& call, BinaryKind kind, bool turned) {
  auto [a, b] = call.both();
  if (turned) std::swap(a, b);
  if (call.number("alpha", 1) != 1) b = call.scale(b, call.number("alpha"));
  return one(call.binary(call.dtype(a) == DType::boolean ? of_truths(kind) : kind, a, b));
}

Values unary(const Call& call, UnaryKind kind) { return one(call.unary(kind, call.in_floats(call.tensor("self")))); }

NodeId truth(const Call& call, NodeId x) {
  return call.dtype(x) == DType::boolean ? x : call.binary(BinaryKind::ne, x, call.scalar(0, call.dtype(x)));
}

Values bools(const Call& call, BinaryKind kind) {
  return one(call.binary(kind, truth(call, call.tensor("self")), truth(call, call.tensor("other"))));
}

}  // namespace

Values add(const Call& call) { return sum(call, BinaryKind::add, false); }
Values sub(const Call& call) { return sum(call, BinaryKind::sub, false); }
Values rsub(const Call& call) { return sum(call, BinaryKind::sub, true); }
Values mul(const Call& call) { return binary(call, BinaryKind::mul); }
Values maximum(const Call& call) { return binary(call, BinaryKind::max); }
Values minimum(const Call& call) { return binary(call, BinaryKind::min); }
Values eq(const Call& call) { return binary(call, BinaryKind::eq); }
Values ne(const Call& call) { return binary(call, BinaryKind::ne); }
Values lt(const Call& call) { return binary(call, BinaryKind::lt); }
Values le(const Call& call) { return binary(call, BinaryKind::le); }
Values gt(const Call& call) { return binary(call, BinaryKind::gt); }
Values ge(const Call& call) { return binary(call, BinaryKind::ge); }

// True division: integers divide as floats.
Values div(const Call& call) {
  const auto [a, b] = call.both();
  return one(call.binary(BinaryKind::div, call.in_floats(a), call.in_floats(b)));
}

Values div_mode(const Call& call) {
  const std::string mode = call.text("rounding_mode", "");
  if (mode.empty()) return div(call);
  if (mode != "floor" && mode != "trunc") refuse("rounding_mode: got '{}', wanted 'floor' or 'trunc'", mode);
  const auto [a, b] = call.both();
  return one(call.rounded_quotient(a, b, mode == "floor" ? exported::Rounding::down : exported::Rounding::to_zero));
}
Values floor_divide(const Call& call) {
  const auto [a, b] = call.both();
  return one(call.rounded_quotient(a, b, exported::Rounding::down));
}
// a - floor(a / b) b
Values remainder(const Call& call) {
  const auto [a, b] = call.both();
  const NodeId quotient = call.rounded_quotient(a, b, exported::Rounding::down);
  return one(call.binary(BinaryKind::sub, a, call.binary(BinaryKind::mul, quotient, b)));
}

Values sign(const Call& call) { return one(call.sign(call.tensor("self"))); }
Values floor(const Call& call) { return one(call.rounded(call.tensor("self"), exported::Rounding::down)); }
Values ceil(const Call& call) { return one(call.rounded(call.tensor("self"), exported::Rounding::up)); }
Values round(const Call& call) {
  const NodeId x = call.tensor("self");
  const auto rounded = [&](NodeId of) { return call.rounded(of, exported::Rounding::nearest_even); };
  const int64_t decimals = call.integer("decimals", 0);
  if (decimals == 0 || !is_float(call.dtype(x))) return one(rounded(x));
  const NodeId power = call.scalar(std::pow(10.0, static_cast<double>(std::abs(decimals))), call.dtype(x));
  const BinaryKind there = decimals > 0 ? BinaryKind::mul : BinaryKind::div;
  const BinaryKind back = decimals > 0 ? BinaryKind::div : BinaryKind::mul;
  return one(call.binary(back, rounded(call.binary(there, x, power)), power));
}
Values trunc(const Call& call) { return one(call.rounded(call.tensor("self"), exported::Rounding::to_zero)); }
Values isnan(const Call& call) {
  const NodeId x = call.tensor("self");
  return one(call.binary(BinaryKind::ne, x, x));
}

Values leaky_relu(const Call& call) {
  const NodeId x = call.tensor("self"), negative = call.binary(BinaryKind::lt, x, call.scalar(0, call.dtype(x)));
  return one(call.select(negative, call.scale(x, call.number("negative_slope", 0.01)), x));
}
// x + 3, within 0 and 6, over 6.
Values hardsigmoid(const Call& call) {
  const NodeId x = call.tensor("self");
  const NodeId step = call.clamp(call.binary(BinaryKind::add, x, call.scalar(3, call.dtype(x))), 0, 6);
  return one(call.binary(BinaryKind::div, step, call.scalar(6, call.dtype(x))));
}
Values hardswish(const Call& call) {
  return one(call.binary(BinaryKind::mul, call.tensor("self"), hardsigmoid(call)[0].node()->id));
}
Values hardtanh(const Call& call) {
  return one(call.clamp(call.tensor("self"), call.number("min_val", -1), call.number("max_val", 1)));
}
// log(1 + exp(beta x)) / beta; x where beta x is above the threshold.
Values softplus(const Call& call) {
  const NodeId x = call.tensor("self");
  const double beta = call.number("beta", 1), threshold = call.number("threshold", 20);
  const NodeId scaled = call.scale(x, beta), one_more = call.scalar(1, call.dtype(x));
  const NodeId near = call.clamp(scaled, std::nullopt, threshold);
  const NodeId sum = call.binary(BinaryKind::add, call.unary(UnaryKind::exp, near), one_more);
  const NodeId soft = call.scale(call.unary(UnaryKind::log, sum), 1 / beta);
  return one(call.select(call.binary(BinaryKind::gt, scaled, call.scalar(threshold, call.dtype(x))), x, soft));
}
// x tanh(log(1 + exp(x)))
Values mish(const Call& call) {
  const NodeId soft = call.unary(UnaryKind::tanh, softplus(call)[0].node()->id);
  return one(call.binary(BinaryKind::mul, call.tensor("self"), soft));
}
Values relu6(const Call& call) { return one(call.clamp(call.tensor("self"), 0, 6)); }
namespace {

// slope x where x is positive, else factor (exp(rate x) - 1)
struct ExponentialUnit {
  double slope = 1, factor = 1, rate = 1;
};
Values exponential_unit(const Call& call, const ExponentialUnit& unit) {
  const NodeId x = call.tensor("self"), zero = call.scalar(0, call.dtype(x));
  const NodeId low = call.binary(BinaryKind::min, call.scale(x, unit.rate), zero);
  const NodeId less = call.binary(BinaryKind::sub, call.unary(UnaryKind::exp, low), call.scalar(1, call.dtype(x)));
  return one(call.select(call.binary(BinaryKind::gt, x, zero), unit.slope == 1 ? x : call.scale(x, unit.slope),
                         call.scale(less, unit.factor)));
}

}  // namespace

Values elu(const Call& call) {
  const double scale = call.number("scale", 1);
  return exponential_unit(call, {scale, scale * call.number("alpha", 1), call.number("input_scale", 1)});
}
Values selu(const Call& call) {  // Klambauer et al., 2017
  constexpr double kScale = 1.0507009873554804934193349852946, kAlpha = 1.6732632423543772848170429916717;
  return exponential_unit(call, {kScale, kScale * kAlpha, 1});
}
Values celu(const Call& call) {
  const double alpha = call.number("alpha", 1);
  if (alpha == 0) exported::refuse("an alpha of 0");
  return exponential_unit(call, {1, alpha, 1 / alpha});
}
// x where it is positive, else x times its channel's number.
Values prelu(const Call& call) {
  const NodeId x = call.tensor("self"), zero = call.scalar(0, call.dtype(x));
  NodeId weight = call.tensor("weight");
  if (call.shape(weight).product() > 1) {
    Shape to = Dims::filled(call.rank(x), 1);
    to[call.rank(x) > 1 ? 1 : 0] = call.shape(weight).product();
    weight = call.reshape(weight, to);
  }
  return one(call.select(call.binary(BinaryKind::gt, x, zero), x, call.binary(BinaryKind::mul, x, weight)));
}

Values pow(const Call& call) {
  const auto [base, exponent] = call.both("self", "exponent");
  const bool is_whole = !is_float(call.dtype(base));
  if (!call.find("exponent")->node()) {
    const double power = call.number("exponent");
    const auto known = !is_whole || power >= 1 ? call.power(base, power) : std::nullopt;
    if (known) return one(*known);
  }
  if (is_whole) return one(call.add(Formula{FormulaKind::int_pow}, {base, exponent}));
  return one(call.binary(BinaryKind::pow, base, exponent));
}

Values neg(const Call& call) { return one(call.unary(UnaryKind::neg, call.tensor("self"))); }
Values abs(const Call& call) { return one(call.unary(UnaryKind::abs, call.tensor("self"))); }
Values square(const Call& call) { return one(call.unary(UnaryKind::square, call.tensor("self"))); }
Values relu(const Call& call) { return one(call.unary(UnaryKind::relu, call.tensor("self"))); }
Values exp(const Call& call) { return unary(call, UnaryKind::exp); }
Values log(const Call& call) { return unary(call, UnaryKind::log); }
Values log10(const Call& call) { return one(call.scale(log(call)[0].node()->id, 1 / std::numbers::ln10)); }
Values log2(const Call& call) { return one(call.scale(log(call)[0].node()->id, 1 / std::numbers::ln2)); }
Values exp2(const Call& call) {
  return one(call.unary(UnaryKind::exp, call.scale(call.in_floats(call.tensor("self")), std::numbers::ln2)));
}
Values sqrt(const Call& call) { return unary(call, UnaryKind::sqrt); }
Values rsqrt(const Call& call) { return unary(call, UnaryKind::rsqrt); }
Values reciprocal(const Call& call) { return unary(call, UnaryKind::reciprocal); }
Values sin(const Call& call) { return unary(call, UnaryKind::sin); }
Values cos(const Call& call) { return unary(call, UnaryKind::cos); }
Values tanh(const Call& call) { return unary(call, UnaryKind::tanh); }
Values erf(const Call& call) { return unary(call, UnaryKind::erf); }
Values sigmoid(const Call& call) { return unary(call, UnaryKind::sigmoid); }
Values silu(const Call& call) { return unary(call, UnaryKind::silu); }

Values gelu(const Call& call) {
  const std::string form = call.text("approximate", "none");
  if (form != "none" && form != "tanh") refuse("approximate: got '{}', wanted 'none' or 'tanh'", form);
  return unary(call, form == "tanh" ? UnaryKind::gelu_tanh : UnaryKind::gelu);
}

// Bounds are numbers or tensors, and may widen what they bound: a fraction makes integers f32.
Values clamp(const Call& call) {
  const NodeId x = call.tensor("self");
  std::vector<NodeId> met{x};
  for (const char* bound : {"min", "max"})
    if (call.has(bound)) met.push_back(call.tensor_or_number(bound, x));
  met = call.in_common_type(std::move(met));
  NodeId y = met[0];
  if (call.has("min")) y = call.binary(BinaryKind::max, y, met[1]);
  if (call.has("max")) y = call.binary(BinaryKind::min, y, met.back());
  return one(y);
}
Values clamp_min(const Call& call) { return clamp(call); }

Values logical_not(const Call& call) {
  return one(call.unary(UnaryKind::logical_not, truth(call, call.tensor("self"))));
}
Values bitwise_not(const Call& call) {
  const NodeId x = call.tensor("self");
  if (call.dtype(x) == DType::boolean) return one(call.unary(UnaryKind::logical_not, x));
  if (is_float(call.dtype(x))) refuse("bits of {}, wanted integers or bool", call.type(x));
  return one(call.binary(BinaryKind::sub, call.scalar(-1, call.dtype(x)), x));
}
Values logical_and(const Call& call) { return bools(call, BinaryKind::logical_and); }
Values logical_or(const Call& call) { return bools(call, BinaryKind::logical_or); }
Values logical_xor(const Call& call) {
  return one(call.binary(BinaryKind::ne, truth(call, call.tensor("self")), truth(call, call.tensor("other"))));
}

Values where(const Call& call) {
  const bool numbers = !call.find("self")->node() && !call.find("other")->node();
  if (numbers) {
    const auto type_of = [&](const char* name) {
      const auto& number = call.find(name)->is;
      if (std::holds_alternative<bool>(number)) return DType::boolean;
      return std::holds_alternative<double>(number) ? DType::f32 : DType::i64;
    };
    const DType type = exported::promoted(type_of("self"), type_of("other"));
    return one(call.select(call.tensor("condition"), call.scalar(call.number("self"), type),
                           call.scalar(call.number("other"), type)));
  }
  const auto [a, b] = call.both();
  return one(call.select(call.tensor("condition"), a, b));
}

Values masked_fill(const Call& call) {
  const NodeId x = call.tensor("self");
  return one(call.select(call.tensor("mask"), call.cast(call.tensor_or_number("value", x), call.dtype(x)), x));
}

Values fill(const Call& call) {
  const NodeId x = call.tensor("self");
  return one(call.broadcast(call.cast(call.tensor_or_number("value", x), call.dtype(x)), call.shape(x)));
}
Values zero(const Call& call) {
  const NodeId x = call.tensor("self");
  return one(call.broadcast(call.scalar(0, call.dtype(x)), call.shape(x)));
}
Values copy(const Call& call) {
  const NodeId x = call.tensor("self");
  return one(call.broadcast(call.cast(call.tensor("src"), call.dtype(x)), call.shape(x)));
}

Values to(const Call& call) {
  const NodeId x = call.tensor("self");
  return one(call.cast(x, call.dtype_argument("dtype").value_or(call.dtype(x))));
}
Values type_as(const Call& call) { return one(call.cast(call.tensor("self"), call.dtype(call.tensor("other")))); }

}  // namespace rung::pt2::operators
