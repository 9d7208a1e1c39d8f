// Attention by pieces: a product, softmax over its rows, a product with the result.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "trace/findings/products.hpp"

namespace rung::trace {

// Work first..last, with the copies before and after it that a fused kernel does not need.
struct AttentionChain {
  size_t first = 0, last = 0;
  std::optional<Product> scores, values;  // where shapes are recorded
  bool is_masked = false;                 // something is added or replaced before softmax, or may be
  bool is_expanded = false;               // keys or values were copied to all heads before
  bool is_fallback = false;               // scaled_dot_product_attention by PyTorch's own pieces

  // The demand of a fused kernel: operands read once and the result written once. A mask may spare it any part of the
  // products, and it reads less of copied keys and values.
  Demand fused_demand() const;
};

// In order and apart.
std::vector<AttentionChain> attention_chains(const Analysis& analysis, const std::vector<Product>& products);

// Per piece of work: whether it belongs to a chain.
std::vector<bool> work_in(const Analysis& analysis, const std::vector<AttentionChain>& chains);

}  // namespace rung::trace
