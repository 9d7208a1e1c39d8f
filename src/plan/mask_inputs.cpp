// Follows masks launch by launch, in order: every buffer has one writer, which stands before its readers.
// SPDX-License-Identifier: Apache-2.0
#include "plan/mask_inputs.hpp"

#include <algorithm>

#include "ir/mask_flow.hpp"

namespace rung {

bool leads_to_mask(const Plan& plan, const PlanInput& input) {
  std::vector<bool> masks(plan.buffers.size());
  masks[input.buffer] = true;
  for (const Step& step : plan.steps)
    for (size_t at = 0; at < step.inputs.size(); ++at) {
      const PlanOperand& operand = step.inputs[at];
      if (operand.region != Region::buffer || !masks[operand.index]) continue;
      const MaskRole role = mask_role(step.op, at, step.inputs.size());
      if (role == MaskRole::reads) return true;
      if (role == MaskRole::carries) masks[step.output.index] = true;
    }
  return false;
}

}  // namespace rung
