// Which inputs of a plan may hold -inf: what ir/mask_flow.hpp says of a graph, read from a plan's launches.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "plan/plan.hpp"

namespace rung {

// Do launches that carry it lead from this input to one that reads it as a mask?
bool leads_to_mask(const Plan& plan, const PlanInput& input);

}  // namespace rung
