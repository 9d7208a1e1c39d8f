// Turns element-wise ops into programs.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/elementwise_program.hpp"

#include "ir/formulas.hpp"
#include "ir/functions.hpp"

namespace rung {
namespace {

Register operand(int i) { return {i}; }

PointwiseProgram one_step(PointwiseFunction function, size_t inputs) {
  return {inputs, {{function, {operand(0), operand(1), operand(2)}}}};
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
  if (const auto* formula = as<Formula>(p.op)) return one_step(formula->kind, p.inputs.size());
  if (as<Cast>(p.op)) return PointwiseProgram{1, {}};
  if (const auto* gated_mul = as<GatedMul>(p.op)) return gated(gated_mul->activation);
  return parse_pointwise(p.as<Pointwise>().program, p.inputs.size());
}

Verdict is_interpreted(const PointwiseInstruction& instruction) {
  const auto* formula = std::get_if<FormulaKind>(&instruction.function);
  return formula ? reject(fmt::format("the interpreter has no {}", name_of(*formula))) : accept();
}

Verdict is_interpreted(const PointwiseProgram& program) {
  for (const PointwiseInstruction& instruction : program.instructions)
    if (auto verdict = is_interpreted(instruction); !verdict) return verdict;
  return accept();
}

Code code_of(const PointwiseFunction& function) {
  if (const auto* unary = std::get_if<UnaryKind>(&function)) return static_cast<Code>(*unary);
  if (const auto* binary = std::get_if<BinaryKind>(&function))
    return static_cast<Code>(kUnaryFunctions + static_cast<int>(*binary));
  if (const auto* round = std::get_if<Round>(&function))
    return round->to == DType::bf16 ? Code::round_bf16 : Code::round_f16;
  return Code::select;
}

}  // namespace rung
