// The demand on the card of attention by one kernel, from the operands of scaled_dot_product_attention.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "trace/findings/floor.hpp"

namespace rung::trace {

// Keys and values count once for `times` heads that they were repeated for. Half the products, where a causal mask may
// spare the other half; none of them with a mask. None where the operation or its shapes are not recorded.
std::optional<Demand> fused_demand_of(const Analysis& analysis, const Work& work, int64_t times);

// The same of a kernel that computes all pairs, whatever a mask may spare it.
struct AttentionShapes {
  std::string_view type;
  std::vector<int64_t> q, k;
  bool is_masked = false;
  Demand least, all_pairs;
};
std::optional<AttentionShapes> attention_shapes_of(const Analysis& analysis, const Work& work, int64_t times);

}  // namespace rung::trace
