// The least work of a step at a place in a text: attention over a cache reads what the text fills of it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "measure/cost.hpp"
#include "plan/plan.hpp"

namespace rung {

// Returns the step's least work if its chunk stands behind `tokens` tokens. Step::flops and Step::bytes are those of a
// text's beginning.
Cost cost_behind(const Step& step, int64_t tokens);

}  // namespace rung
