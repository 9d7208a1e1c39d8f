// Element-wise ops as programs.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/elementwise_program.hpp"

namespace rung {
namespace {

Register operand(int i) { return {i}; }

PointwiseProgram one_step(PointwiseFunction function, size_t inputs) {
  return {inputs, {{function, {operand(0), operand(1), operand(2)}}}};
}

std::optional<UnaryKind> unary_of(Activation activation) {
  switch (activation) {
    case Activation::relu:
      return UnaryKind::relu;
    case Activation::gelu:
      return UnaryKind::gelu;
    case Activation::gelu_tanh:
      return UnaryKind::gelu_tanh;
    case Activation::silu:
      return UnaryKind::silu;
    case Activation::tanh:
      return UnaryKind::tanh;
    case Activation::none:
      break;
  }
  return std::nullopt;
}

PointwiseProgram gated(Activation activation) {
  auto kind = unary_of(activation);
  if (!kind) return one_step(BinaryKind::mul, 2);
  return {2, {{*kind, {operand(0)}}, {BinaryKind::mul, {operand(2), operand(1)}}}};
}

}  // namespace

Result<PointwiseProgram> program_of(const Problem& p) {
  if (const auto* unary = as<Unary>(p.op)) return one_step(unary->kind, 1);
  if (const auto* binary = as<Binary>(p.op)) return one_step(binary->kind, 2);
  if (as<Select>(p.op)) return one_step(Select{}, 3);
  if (as<Cast>(p.op)) return PointwiseProgram{1, {}};
  if (const auto* gated_mul = as<GatedMul>(p.op)) return gated(gated_mul->activation);
  return parse_pointwise(p.as<Pointwise>().program, p.inputs.size());
}

}  // namespace rung
