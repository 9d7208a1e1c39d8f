// Attention in pieces: a product, softmax over its rows, and a product with the result.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "trace/findings/products.hpp"

namespace rung::trace {

// Work first..last, including the copies before and after it that a fused kernel does not need.
struct AttentionChain {
  size_t first = 0, last = 0;
  std::optional<Product> scores, values;  // if shapes are recorded
  bool is_masked = false;                 // values are added or replaced before softmax, or may be
  bool is_expanded = false;               // keys or values were first copied to all heads
  bool is_fallback = false;               // scaled_dot_product_attention in PyTorch's own pieces

  // Returns a fused kernel's demand: operands read once and the result written once. A mask may spare it any part of
  // the products, and it reads less of copied keys and values.
  Demand fused_demand() const;
};

// Returns chains in order and apart.
std::vector<AttentionChain> attention_chains(const Analysis& analysis, const std::vector<Product>& products);

// Returns for each piece of work whether it belongs to a chain.
std::vector<bool> work_in(const Analysis& analysis, const std::vector<AttentionChain>& chains);

}  // namespace rung::trace
