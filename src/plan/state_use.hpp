// How a plan uses its states in one run.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "plan/plan.hpp"

namespace rung {

// Null: the buffer is no state's.
const PlanState* state_in(const Plan& plan, uint32_t buffer);

// By buffer: is it a state's?
std::vector<bool> state_buffers(const Plan& plan);

struct StateUse {
  bool reads_first = false;  // a step reads what an earlier run left there
  bool writes = false;
};
StateUse use_of(const Plan& plan, const PlanState& state);

}  // namespace rung
