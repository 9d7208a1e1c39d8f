// Checks the values of a plan's input, in whatever memory they lie.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>

#include "ir/finite.hpp"
#include "plan/plan.hpp"

namespace rung {

// Checks that integers are within the input's range, bools are 0 or 1, and floats are numbers, or else
// what the input tolerates. `values`: row-major, of the input's type. Takes no memory unless it
// fails. Errors name the input, the value it has and the values allowed.
Status check_input_values(const PlanInput& input, const std::byte* values, const std::function<Tolerates()>& tolerates);

}  // namespace rung
