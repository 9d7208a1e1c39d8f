// What attention by one kernel asks of the card, from the operands of scaled_dot_product_attention.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "advise/advice/floor.hpp"

namespace rung::advise {

// Keys and values count once for `times` heads that they were repeated for. Half the products, where a causal mask may
// spare the other half; none of them with a mask. None where the operation or its shapes are not recorded.
std::optional<Demand> fused_demand_of(const Analysis& analysis, const Work& work, int64_t times);

}  // namespace rung::advise
