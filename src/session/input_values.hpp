// Checks of the values that an input of a plan may hold, wherever they lie.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>

#include "plan/plan.hpp"

namespace rung {

// Integers within the input's range, bools that are 0 or 1, floats without NaN or infinity but -inf where `masks` says
// that they are a mask. `values`: row-major, of the input's type. Takes no memory unless it fails. Errors name the
// input, what was got and what was wanted.
Status check_input_values(const PlanInput& input, const std::byte* values, const std::function<bool()>& masks);

}  // namespace rung
