// The least work of a step at a place in a text: attention over a cache reads what the text fills of it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>

#include "measure/cost.hpp"
#include "plan/plan.hpp"

namespace rung {

// Returns the step's least work if its chunk stands behind `tokens` tokens. Step::flops and Step::bytes are those of a
// text's beginning.
Cost cost_behind(const Step& step, int64_t tokens);
// Returns it where the chunk's tokens are the last that its cache holds.
Cost cost_of_full_cache(const Step& step);

// Returns the length of the full cache that an attention reads, if operand `i` gives a length.
std::optional<int64_t> full_length(const Problem& problem, size_t i);

}  // namespace rung
