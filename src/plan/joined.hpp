// Which neighbouring steps of a plan a GPU does in one launch.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "plan/plan.hpp"

namespace rung {

// Returns how many steps each launch of the plan does, in order: more than one where the recipe asks for it and the
// steps' row can.
std::vector<size_t> steps_of_launches(const Plan& plan);

}  // namespace rung
