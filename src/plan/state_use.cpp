// Goes through steps in order: the first step that touches a state decides whether the plan needs its value.
// SPDX-License-Identifier: Apache-2.0
#include "plan/state_use.hpp"

#include <algorithm>

namespace rung {

const PlanState* state_in(const Plan& plan, uint32_t buffer) {
  const auto it = std::ranges::find(plan.states, buffer, &PlanState::buffer);
  return it == plan.states.end() ? nullptr : &*it;
}

std::vector<bool> state_buffers(const Plan& plan) {
  std::vector<bool> of_states(plan.buffers.size());
  for (const PlanState& state : plan.states)
    if (state.buffer < of_states.size()) of_states[state.buffer] = true;
  return of_states;
}

bool is_in(const PlanOperand& operand, uint32_t buffer) {
  return operand.storage == Storage::buffer && operand.index == buffer;
}

bool may_update(const Plan& plan, const Step& step, size_t i) {
  const Kernel* kernel = plan.target->kernel_named(step.choice.kernel);
  const PlanOperand& operand = step.inputs[i];
  const auto is_same = [&](const PlanOperand& other) { return is_in(other, operand.index); };
  return kernel && kernel->updates == static_cast<int>(i) && operand.offset == 0 && operand.view.contiguous() &&
         type_of(operand).bytes() == plan.buffers[operand.index].bytes &&
         std::ranges::count_if(step.inputs, is_same) == 1;
}

StateUse use_of(const Plan& plan, const PlanState& state) {
  const auto is_state = [&](const PlanOperand& operand) { return is_in(operand, state.buffer); };
  StateUse use;
  for (const Step& step : plan.steps) {
    use.reads_first = use.reads_first || (!use.writes && std::ranges::any_of(step.inputs, is_state));
    use.writes = use.writes || is_state(step.output);
    for (size_t i = 0; i < step.inputs.size(); ++i)
      use.writes = use.writes || (updates(step.op, i) && is_state(step.inputs[i]));
  }
  return use;
}

}  // namespace rung
