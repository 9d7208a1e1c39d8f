// Checks a plan that came from a file before anything trusts it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "plan/plan.hpp"

namespace rung {

// Every index names something, every operand lies within its buffer or weight, every kernel exists, runs its problem
// and finds its packed weights at the size it wants, buffers alive together do not overlap. Errors name the step.
Status check_plan(const Plan& plan);

}  // namespace rung
