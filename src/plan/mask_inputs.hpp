// Finds the inputs of a plan that may hold -inf: applies the rule of ir/mask_flow.hpp to the launches of a plan.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/finite.hpp"
#include "plan/plan.hpp"

namespace rung {

// Returns whether launches carry this input to a launch that reads it as a mask.
bool leads_to_mask(const Plan& plan, const PlanInput& input);
// Returns whether all steps that the input gets to only move, convert or compare each element (ir/mask_flow.hpp).
bool stays_apart(const Plan& plan, const PlanInput& input);
Tolerates tolerated(const Plan& plan, const PlanInput& input);

}  // namespace rung
