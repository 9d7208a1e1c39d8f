// Follows masks launch by launch, in order: every buffer has one writer, which comes before its readers.
// SPDX-License-Identifier: Apache-2.0
#include "plan/mask_inputs.hpp"

#include <algorithm>

#include "ir/mask_flow.hpp"

namespace rung {

bool leads_to_mask(const Plan& plan, const PlanInput& input) {
  std::vector<bool> masks(plan.buffers.size());
  masks[input.buffer] = true;
  for (const Step& step : plan.steps) {
    const Semantics semantics = semantics_of(step.op, operand_types(step), type_of(step.output));
    for (size_t at = 0; at < step.inputs.size(); ++at) {
      const PlanOperand& operand = step.inputs[at];
      if (operand.storage != Storage::buffer || !masks[operand.index]) continue;
      if (semantics.operands[at].infinity == InfinityUse::masks) return true;
      if (semantics.operands[at].infinity == InfinityUse::carries) masks[step.output.index] = true;
    }
  }
  return false;
}

bool stays_apart(const Plan& plan, const PlanInput& input) {
  std::vector<bool> reached(plan.buffers.size());
  reached[input.buffer] = true;
  for (const Step& step : plan.steps) {
    const Semantics semantics = semantics_of(step.op, operand_types(step), type_of(step.output));
    for (size_t at = 0; at < step.inputs.size(); ++at) {
      const PlanOperand& operand = step.inputs[at];
      if (operand.storage != Storage::buffer || !reached[operand.index]) continue;
      const DType result = type_of(step.output).dtype;
      if (!reads_apart(step.op, semantics, at, result)) return false;
      if (is_float(result)) reached[step.output.index] = true;
    }
  }
  return true;
}

Tolerates tolerated(const Plan& plan, const PlanInput& input) {
  if (stays_apart(plan, input)) return Tolerates::all;
  return leads_to_mask(plan, input) ? Tolerates::minus_infinity : Tolerates::numbers;
}

}  // namespace rung
