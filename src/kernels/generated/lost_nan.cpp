// Follows NaN of one value through the program: those at their own elements, and those that fill their row.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/generated/lost_nan.hpp"

#include <algorithm>

namespace rung::generated {
namespace {

bool keeps_nan(const PointwiseFunction& function) {
  if (const auto* binary = std::get_if<BinaryKind>(&function))
    return *binary == BinaryKind::add || *binary == BinaryKind::sub || *binary == BinaryKind::mul ||
           *binary == BinaryKind::div;
  const auto* unary = std::get_if<UnaryKind>(&function);
  if (!unary) return std::holds_alternative<Round>(function);
  switch (*unary) {
    case UnaryKind::neg:
    case UnaryKind::abs:
    case UnaryKind::exp:
    case UnaryKind::log:
    case UnaryKind::sqrt:
    case UnaryKind::rsqrt:
    case UnaryKind::reciprocal:
    case UnaryKind::square:
    case UnaryKind::tanh:
    case UnaryKind::sigmoid:
      return true;
    default:
      return false;
  }
}

// By register: whether it holds one of some values.
class Marks {
 public:
  explicit Marks(const RegionProgram& program) : marks_(program.registers()) {}
  void add(size_t reg) { marks_[reg] = true; }
  bool has(size_t reg) const { return marks_[reg]; }
  bool reach(const RegionInstruction& instruction) const {
    return std::ranges::any_of(operands_of(instruction), [&](const PointwiseOperand& operand) {
      const auto* from = std::get_if<Register>(&operand);
      return from && has(static_cast<size_t>(from->index));
    });
  }

 private:
  std::vector<bool> marks_;
};

}  // namespace

bool may_lose_nan(const RegionProgram& program, size_t instruction) {
  const auto* extreme = std::get_if<RowReduction>(&program.instructions[instruction]);
  if (!extreme || (extreme->kind != RowKind::max && extreme->kind != RowKind::min)) return false;
  const auto* of = std::get_if<Register>(&extreme->of);
  if (!of) return false;
  Marks at_element(program), in_row(program), dependants(program);
  at_element.add(static_cast<size_t>(of->index));
  dependants.add(program.inputs + instruction);
  for (size_t i = 0; i < program.instructions.size(); ++i) {
    const RegionInstruction& each = program.instructions[i];
    const size_t reg = program.inputs + i;
    if (dependants.reach(each)) dependants.add(reg);
    if (const auto* reduction = std::get_if<RowReduction>(&each)) {
      const bool adds = reduction->kind == RowKind::sum || reduction->kind == RowKind::mean;
      if (adds && (at_element.reach(each) || in_row.reach(each))) in_row.add(reg);
    } else if (const auto* element = std::get_if<PointwiseInstruction>(&each);
               element && keeps_nan(element->function)) {
      if (in_row.reach(each)) in_row.add(reg);
      if (at_element.reach(each)) at_element.add(reg);
    }
  }
  return std::ranges::all_of(program.results, [&](const RegionResult& result) {
    const auto reg = static_cast<size_t>(result.index);
    return !dependants.has(reg) || in_row.has(reg);
  });
}

}  // namespace rung::generated
