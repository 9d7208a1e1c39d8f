// Element-wise operators of ONNX graphs.
// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/elements.hpp"
#include "import/onnx/operators.hpp"
#include "import/onnx/tensors.hpp"

namespace rung::onnx::operators {
namespace {

using exported::refuse;

// Files before opset 7 may say at which axis the second operand stands.
Outputs binary(const Call& call, BinaryKind kind) {
  if (call.version() < 7 && call.find("axis", AttributeKind::i))
    refuse("a broadcast at an axis, of opset {}", call.version());
  return {call.binary(kind, call[0], call[1])};
}
Outputs unary(const Call& call, UnaryKind kind) { return {call.unary(kind, call[0])}; }

// Any number of inputs, one after another.
Outputs folded(const Call& call, BinaryKind kind) {
  NodeId all = call[0];
  for (size_t i = 1; i < call.count(); ++i) all = call.binary(kind, all, call[i]);
  return {all};
}

std::optional<double> number_at(const Call& call, size_t input) {
  if (!call.has(input)) return std::nullopt;
  const auto value = call.value_of(call[input]);
  if (!value || value->elements() != 1) refuse("bound {} depends on an input's values", input);
  if (!is_float(value->dtype())) return static_cast<double>(convert(*value, DType::i64).as<int64_t>()[0]);
  return static_cast<double>(convert(*value, DType::f32).as<float>()[0]);
}

// x sigmoid(alpha x)
NodeId times_sigmoid(const Call& call, double alpha) {
  if (alpha == 1) return call.unary(UnaryKind::silu, call[0]);
  return call.binary(BinaryKind::mul, call[0], call.unary(UnaryKind::sigmoid, call.scale(call[0], alpha)));
}

}  // namespace

Outputs add(const Call& call) { return binary(call, BinaryKind::add); }
Outputs sub(const Call& call) { return binary(call, BinaryKind::sub); }
Outputs mul(const Call& call) { return binary(call, BinaryKind::mul); }
Outputs div(const Call& call) { return binary(call, BinaryKind::div); }
Outputs max(const Call& call) { return folded(call, BinaryKind::max); }
Outputs min(const Call& call) { return folded(call, BinaryKind::min); }
Outputs sum_of_inputs(const Call& call) { return folded(call, BinaryKind::add); }
Outputs equal(const Call& call) { return binary(call, BinaryKind::eq); }
Outputs less(const Call& call) { return binary(call, BinaryKind::lt); }
Outputs less_or_equal(const Call& call) { return binary(call, BinaryKind::le); }
Outputs greater(const Call& call) { return binary(call, BinaryKind::gt); }
Outputs greater_or_equal(const Call& call) { return binary(call, BinaryKind::ge); }
Outputs logical_and(const Call& call) { return binary(call, BinaryKind::logical_and); }
Outputs logical_or(const Call& call) { return binary(call, BinaryKind::logical_or); }
Outputs logical_not(const Call& call) { return unary(call, UnaryKind::logical_not); }
Outputs is_nan(const Call& call) { return {call.binary(BinaryKind::ne, call[0], call[0])}; }
Outputs neg(const Call& call) { return unary(call, UnaryKind::neg); }
Outputs abs(const Call& call) { return unary(call, UnaryKind::abs); }
Outputs exp(const Call& call) { return unary(call, UnaryKind::exp); }
Outputs log(const Call& call) { return unary(call, UnaryKind::log); }
Outputs sqrt(const Call& call) { return unary(call, UnaryKind::sqrt); }
Outputs reciprocal(const Call& call) { return unary(call, UnaryKind::reciprocal); }
Outputs sin(const Call& call) { return unary(call, UnaryKind::sin); }
Outputs cos(const Call& call) { return unary(call, UnaryKind::cos); }
Outputs tanh(const Call& call) { return unary(call, UnaryKind::tanh); }
Outputs erf(const Call& call) { return unary(call, UnaryKind::erf); }
Outputs sigmoid(const Call& call) { return unary(call, UnaryKind::sigmoid); }
Outputs relu(const Call& call) { return unary(call, UnaryKind::relu); }

// log(1 + exp(x)) as max(x, 0) + log(1 + exp(-|x|)), whose exponential stays within 1.
Outputs softplus(const Call& call) {
  const NodeId x = call[0];
  const NodeId small = call.unary(UnaryKind::exp, call.unary(UnaryKind::neg, call.unary(UnaryKind::abs, x)));
  const NodeId rest = call.unary(UnaryKind::log, call.binary(BinaryKind::add, small, call.scalar(1, call.dtype(x))));
  return {call.binary(BinaryKind::add, call.unary(UnaryKind::relu, x), rest)};
}

Outputs mish(const Call& call) {
  return {call.binary(BinaryKind::mul, call[0], call.unary(UnaryKind::tanh, softplus(call)[0]))};
}

Outputs sign(const Call& call) { return {call.sign(call[0])}; }
Outputs floor(const Call& call) { return {call.rounded(call[0], exported::Rounding::down)}; }
Outputs ceil(const Call& call) { return {call.rounded(call[0], exported::Rounding::up)}; }
Outputs round(const Call& call) { return {call.rounded(call[0], exported::Rounding::nearest_even)}; }
Outputs logical_xor(const Call& call) { return binary(call, BinaryKind::ne); }
Outputs softsign(const Call& call) {
  const NodeId x = call[0], one = call.scalar(1, call.dtype(x));
  return {call.binary(BinaryKind::div, x, call.binary(BinaryKind::add, call.unary(UnaryKind::abs, x), one))};
}
// x; below 0 alpha (exp(x) - 1)
Outputs elu(const Call& call) {
  const NodeId x = call[0], below = call.clamp(x, std::nullopt, 0);
  const NodeId curve = call.binary(BinaryKind::sub, call.unary(UnaryKind::exp, below), call.scalar(1, call.dtype(x)));
  const NodeId negative = call.binary(BinaryKind::lt, x, call.scalar(0, call.dtype(x)));
  return {call.select(negative, call.scale(curve, call.number("alpha", 1)), x)};
}
Outputs leaky_relu(const Call& call) {
  const NodeId x = call[0], negative = call.binary(BinaryKind::lt, x, call.scalar(0, call.dtype(x)));
  return {call.select(negative, call.scale(x, call.number("alpha", 0.01)), x)};
}
namespace {

// alpha x + beta, within 0 and 1.
NodeId hard_step(const Call& call, double alpha, double beta) {
  const NodeId x = call[0];
  return call.clamp(call.binary(BinaryKind::add, call.scale(x, alpha), call.scalar(beta, call.dtype(x))), 0, 1);
}

}  // namespace
Outputs hard_sigmoid(const Call& call) {
  return {hard_step(call, call.number("alpha", 0.2), call.number("beta", 0.5))};
}
Outputs hard_swish(const Call& call) { return {call.binary(BinaryKind::mul, call[0], hard_step(call, 1.0 / 6, 0.5))}; }

// The exponent may be of another type.
Outputs pow(const Call& call) {
  const NodeId x = call[0], exponent = call[1];
  if (is_float(call.dtype(x)) && call.value_of(exponent) && call.type(exponent).elements() == 1 &&
      call.rank(exponent) <= call.rank(x))
    if (const auto known = call.power(x, *number_at(call, 1))) return {*known};
  const DType type = call.dtype(x);
  if (is_float(type)) return {call.binary(BinaryKind::pow, x, call.cast(exponent, type))};
  if (!is_float(call.dtype(exponent))) return {call.add(Formula{FormulaKind::int_pow}, {x, call.cast(exponent, type)})};
  const NodeId power = call.binary(BinaryKind::pow, call.cast(x, DType::f32), call.cast(exponent, DType::f32));
  return {call.cast(power, type)};
}

Outputs gelu(const Call& call) {
  const std::string form = call.text("approximate", "none");
  if (form != "none" && form != "tanh") refuse("approximate: got '{}', wanted 'none' or 'tanh'", form);
  return unary(call, form == "tanh" ? UnaryKind::gelu_tanh : UnaryKind::gelu);
}
Outputs swish(const Call& call) { return {times_sigmoid(call, call.number("alpha", 1))}; }
Outputs swiglu(const Call& call) {
  return {call.binary(BinaryKind::mul, times_sigmoid(call, call.number("alpha", 1)), call[1])};
}
Outputs contrib_gelu(const Call& call) { return unary(call, UnaryKind::gelu); }
Outputs fast_gelu(const Call& call) {
  const NodeId x = call.has(1) ? call.binary(BinaryKind::add, call[0], call[1]) : call[0];
  return {call.unary(UnaryKind::gelu_tanh, x)};
}
Outputs bias_gelu(const Call& call) {
  return {call.unary(UnaryKind::gelu, call.binary(BinaryKind::add, call[0], call[1]))};
}
Outputs quick_gelu(const Call& call) { return {times_sigmoid(call, call.number("alpha", 1.702))}; }

Outputs clip(const Call& call) {
  NodeId x = call[0];
  if (call.version() < 11) {
    if (call.find("min", AttributeKind::f)) x = call.clamp(x, call.number("min", 0), std::nullopt);
    return {call.find("max", AttributeKind::f) ? call.clamp(x, std::nullopt, call.number("max", 0)) : x};
  }
  if (call.has(1)) x = call.binary(BinaryKind::max, x, call[1]);
  if (call.has(2)) x = call.binary(BinaryKind::min, x, call[2]);
  return {x};
}
Outputs where(const Call& call) { return {call.select(call[0], call[1], call[2])}; }
Outputs cast(const Call& call) {
  const std::string mode = call.text("round_mode", "up");
  return {call.elements().noted(converted(call, call[0], call.integer("to"), call.integer("saturate", 1) != 0, mode),
                                call.integer("to"))};
}
Outputs cast_like(const Call& call) {
  const auto type = call.elements().of(call[1]);
  if (!type) return {call.cast(call[0], call.dtype(call[1]))};
  const NodeId y =
      converted(call, call[0], type->number, call.integer("saturate", 1) != 0, call.text("round_mode", "up"));
  return {call.elements().noted(y, type->number)};
}
Outputs identity(const Call& call) { return {call[0]}; }
Outputs dropout(const Call& call) {
  if (call.version() < 7 && call.integer("is_test", 0) == 0) refuse("dropout in training, wanted is_test=1");
  const auto rate = call.has(1) ? call.value_of(call[1]) : std::nullopt;
  if (call.has(1) && !rate && call.has(2) && call.integer_of(2) != 0)
    refuse("a rate of dropout in training that depends on the values of an input");
  const bool keeps_all = rate && rate->elements() == 1 && convert(*rate, DType::f32).as<float>()[0] == 0;
  if (call.has(2) && call.integer_of(2) != 0 && !keeps_all)
    refuse("dropout in training, wanted a model in eval mode: model.eval()");
  return {call[0], call.broadcast(call.literal(Tensor::of<bool>({}, {true})), call.shape(call[0]))};
}

}  // namespace rung::onnx::operators
