// Tells whether a plan reads and writes a state in one run.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "plan/plan.hpp"

namespace rung {

// Returns the state in that buffer; null: the buffer holds no state.
const PlanState* state_in(const Plan& plan, uint32_t buffer);

// Returns, for each buffer, whether it holds a state.
std::vector<bool> state_buffers(const Plan& plan);

bool is_in(const PlanOperand& operand, uint32_t buffer);
// Returns whether a step may have its operand `i` and its result in one buffer: its kernel updates that operand, which
// is all of the buffer, and reads nothing else of it.
bool may_update(const Plan& plan, const Step& step, size_t i);

struct StateUse {
  bool reads_first = false;  // a step reads the value that an earlier run left
  bool writes = false;
};
StateUse use_of(const Plan& plan, const PlanState& state);

}  // namespace rung
