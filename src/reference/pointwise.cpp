// Runs a pointwise program instruction by instruction; each rounds to f32, so the program equals the chain of f32 ops.
// SPDX-License-Identifier: Apache-2.0
#include "ir/pointwise.hpp"

#include "reference/operations.hpp"
#include "reference/registers.hpp"
#include "reference/scalar.hpp"
#include "reference/values.hpp"

namespace rung::reference {
namespace {

double call(const PointwiseFunction& function, const std::array<double, 3>& x) {
  if (const auto* unary = std::get_if<UnaryKind>(&function)) return apply(*unary, x[0]);
  if (const auto* binary = std::get_if<BinaryKind>(&function)) return apply(*binary, x[0], x[1]);
  if (const auto* round = std::get_if<Round>(&function)) return round_to(round->to, x[0]);
  if (const auto* formula = std::get_if<FormulaKind>(&function)) return apply(*formula, x[0], x[1]);
  return x[0] != 0 ? x[1] : x[2];
}

}  // namespace

Column column_of(const Tensor& operand, const Shape& shape) {
  Column column = read(broadcast_to(operand, shape));
  for (double& value : column) value = round_to(DType::f32, value);
  return column;
}

double value_at(const PointwiseOperand& operand, const std::vector<Column>& registers, size_t i) {
  const auto* r = std::get_if<Register>(&operand);
  return r ? registers[static_cast<size_t>(r->index)][i] : std::get<float>(operand);
}

Column run(const PointwiseInstruction& instruction, const std::vector<Column>& registers, size_t elements) {
  Column out(elements);
  std::array<double, 3> x{};
  for (size_t i = 0; i < elements; ++i) {
    for (size_t o = 0; o < instruction.arity(); ++o) x[o] = value_at(instruction.operands[o], registers, i);
    out[i] = round_to(DType::f32, call(instruction.function, x));
  }
  return out;
}

Column run_program(const PointwiseProgram& program, std::vector<Column> registers) {
  const size_t elements = registers[0].size();
  for (const auto& instruction : program.instructions) registers.push_back(run(instruction, registers, elements));
  return std::move(registers.back());
}

Result<Tensor> compute(const Pointwise& op, const Arguments& arguments) {
  RUNG_TRY(PointwiseProgram program, parse_pointwise(op.program, arguments.size()));
  std::vector<Column> registers;
  for (const Tensor& operand : arguments.operands) registers.push_back(column_of(operand, arguments.result.shape));
  return write(arguments.result, run_program(program, std::move(registers)));
}

}  // namespace rung::reference
