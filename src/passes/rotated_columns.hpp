// Where a rotary embedding finds its heads: neighbouring columns of a wider value, a projection.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "ir/graph.hpp"

namespace rung::passes {

struct RotatedColumns {
  NodeId base, view;   // view: what reads base on the way to the rope
  int64_t begin, end;  // columns of base
};

// The columns of a rope over reshape(slice(base, last axis), [..., H, D]) or reshape(base, [..., H, D]).
std::optional<RotatedColumns> rotated_columns(const Graph& graph, NodeId rope);
// Cos and sin of shape [..., 1, D].
bool one_angle_for_all_heads(const Graph& graph, NodeId rope);

}  // namespace rung::passes
