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

StateUse use_of(const Plan& plan, const PlanState& state) {
  const auto is_state = [&](const PlanOperand& operand) {
    return operand.storage == Storage::buffer && operand.index == state.buffer;
  };
  StateUse use;
  for (const Step& step : plan.steps) {
    use.reads_first = use.reads_first || (!use.writes && std::ranges::any_of(step.inputs, is_state));
    use.writes = use.writes || is_state(step.output);
  }
  return use;
}

}  // namespace rung
