// The heads that a rotary embedding rotates: neighbouring columns of a wider value, a projection.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "ir/graph.hpp"

namespace rung::passes {

struct RotatedColumns {
  NodeId base, view;   // view: the node that reads base on the way to the heads
  int64_t begin, end;  // columns of base
};

// Finds the columns of reshape(slice(base, last axis), [..., H, D]) or reshape(base, [..., H, D]).
std::optional<RotatedColumns> columns_of_heads(const Graph& graph, NodeId heads);
// Finds the columns of the heads that a rope rotates.
std::optional<RotatedColumns> rotated_columns(const Graph& graph, NodeId rope);
// Returns whether cos and sin have the shape [..., 1, D] or [D].
bool one_angle_for_all_heads(const Graph& graph, NodeId rope);

}  // namespace rung::passes
