// The rewrites of `simplify` one node at a time, for passes that tidy up behind themselves.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/graph.hpp"

namespace rung::passes {

// Returns whether the node was replaced by something simpler, which may simplify again.
bool simplify_node(Graph& graph, NodeId id);

}  // namespace rung::passes
