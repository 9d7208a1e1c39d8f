// Follows masks launch by launch, in order: every buffer has one writer, which comes before its readers.
// SPDX-License-Identifier: Apache-2.0
#include "plan/mask_inputs.hpp"

#include <algorithm>

#include "ir/semantics.hpp"

namespace rung {

bool leads_to_mask(const Plan& plan, const PlanInput& input) {
  std::vector<bool> masks(plan.buffers.size());
  masks[input.buffer] = true;
  for (const Step& step : plan.steps) {
    const Semantics semantics = semantics_of(step.op, operand_types(step), type_of(step.output));
    for (size_t at = 0; at < step.inputs.size(); ++at) {
      const PlanOperand& operand = step.inputs[at];
      if (operand.region != Region::buffer || !masks[operand.index]) continue;
      if (semantics.operands[at].infinity == InfinityUse::masks) return true;
      if (semantics.operands[at].infinity == InfinityUse::carries) masks[step.output.index] = true;
    }
  }
  return false;
}

}  // namespace rung
