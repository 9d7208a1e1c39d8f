// States that are caches of rows, and their narrower forms.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "ir/graph.hpp"

namespace rung::passes {

// next = scatter(state, places, rows) of a state and its next value, where nothing else reads the state, and the next
// value leaves the run as such alone.
struct WrittenRows {
  NodeId state, next;
};
std::optional<WrittenRows> written_rows(const Graph& graph, const State& state);

// Puts scatter(state of that type, places, cast(rows)) in the place of the state's next value, whose readers stay with
// the old one; returns the new one. The graph's insertion point is in front of all readers.
NodeId narrow_rows(Graph& graph, NodeId next, DType dtype);

}  // namespace rung::passes
