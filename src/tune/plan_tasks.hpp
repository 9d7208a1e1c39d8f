// The problems of a plan that there is a choice for.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "plan/plan.hpp"
#include "tune/tuner.hpp"

namespace rung {

// Returns one task for each problem that several candidates can run, however often the plan has it.
std::vector<TuneTask> tasks_of(const Plan& plan);

}  // namespace rung
