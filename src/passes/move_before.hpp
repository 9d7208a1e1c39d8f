// Moves nodes to an earlier place, for passes that need a value before its author computed it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>

#include "ir/graph.hpp"

namespace rung::passes {

// Moves these nodes, and what they need, before `place`; `ids` become the ids that they have there. Returns false, and
// changes nothing, if any of them needs `place` or an input that is declared behind it.
bool move_before(Graph& graph, NodeId place, std::span<NodeId> ids);

}  // namespace rung::passes
