// A reduction ends a sweep; elements are computed as late as their first reader allows.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/region_stages.hpp"

#include <algorithm>

namespace rung {

RegionStages::RegionStages(const RegionProgram& program, const std::vector<bool>& rows)
    : program_(program), rows_(rows) {
  of_.assign(program.registers(), 0);
  for (size_t i = 0; i < program.instructions.size(); ++i)
    of_[program.inputs + i] = earliest(i) + (is_reduction(i) ? 1 : 0);
  for (size_t i = program.instructions.size(); i-- > 0;) sink(i);
}

int RegionStages::sweeps() const {
  int sweeps = 0;
  for (size_t i = 0; i < program_.instructions.size(); ++i)
    if (!is_row(i)) sweeps = std::max(sweeps, sweep_of(i) + 1);
  for (const RegionResult& result : program_.results)
    if (const auto reg = static_cast<size_t>(result.index); !rows_[reg]) sweeps = std::max(sweeps, of(reg) + 1);
  return sweeps;
}

int RegionStages::earliest(size_t i) const {
  int stage = 0;
  for (const PointwiseOperand& operand : operands_of(program_.instructions[i]))
    if (const auto* from = std::get_if<Register>(&operand)) stage = std::max(stage, of_[size_t(from->index)]);
  return stage;
}

// Elements that no instruction of their own sweep reads are computed in the first sweep that does.
void RegionStages::sink(size_t i) {
  const size_t reg = program_.inputs + i;
  if (rows_[reg]) return;
  int first = INT32_MAX;
  for (size_t j = i + 1; j < program_.instructions.size(); ++j)
    for (const PointwiseOperand& operand : operands_of(program_.instructions[j]))
      if (operand == PointwiseOperand(Register{static_cast<int>(reg)})) first = std::min(first, sweep_of(j));
  if (first != INT32_MAX) of_[reg] = std::max(of_[reg], first);
}

}  // namespace rung
