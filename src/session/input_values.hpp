// Checks the values of a plan's input, in whatever memory they lie.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>

#include "plan/plan.hpp"

namespace rung {

// Checks that integers are within the input's range, bools are 0 or 1, and floats are not NaN or infinite, except -inf
// where `masks` says that the input is a mask. `values`: row-major, of the input's type. Takes no memory unless it
// fails. Errors name the input, the value it has and the values allowed.
Status check_input_values(const PlanInput& input, const std::byte* values, const std::function<bool()>& masks);

}  // namespace rung
