// Which products a precision asks to read 8 bits: what makes them so and what prepares them for it must agree.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "ir/graph.hpp"
#include "ir/precision.hpp"

namespace rung::passes {

// The type that a precision asks for both operands of a product, or for the weights alone.
struct AskedBits {
  std::optional<DType> both;
  std::optional<WeightForm> weights;
  bool any() const { return both || weights; }
};

// Returns what is asked for a node; nothing for all but linears of constant weights. `constant`: constant_nodes(). A
// product at the model's edge, which the other precisions leave in f32, stays.
AskedBits asked_bits(const Graph& graph, const std::vector<bool>& constant, const Precision& precision, NodeId id);

}  // namespace rung::passes
