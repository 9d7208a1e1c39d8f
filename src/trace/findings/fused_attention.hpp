// The demand of a fused attention kernel, from the operands of scaled_dot_product_attention.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "trace/findings/floor.hpp"

namespace rung::trace {

// Keys and values count once for the `times` heads they were repeated for. Counts half of the products if a causal mask
// may spare the rest, and none with any other mask. Returns none if the operation or its shapes are not recorded.
std::optional<Demand> fused_demand_of(const Analysis& analysis, const Work& work, int64_t times);

// The shapes and demand of a kernel that computes all pairs, regardless of masks.
struct AttentionShapes {
  std::string_view type;
  std::vector<int64_t> q, k;
  bool is_masked = false;
  Demand least, all_pairs;
};
std::optional<AttentionShapes> attention_shapes_of(const Analysis& analysis, const Work& work, int64_t times);

}  // namespace rung::trace
