// How updates are put at the places that a call's "index" names along its axis "dim".
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "import/pt2/call.hpp"

namespace rung::pt2 {

// Joins x with an update for each index, [...] both, of which as many are read as there are indices.
NodeId elements_written(const Call& call, ScatterKind kind, NodeId x, NodeId updates);

// Joins rows of x along the axis with updates that broadcast to as many; indices count from the end where negative.
NodeId rows_written(const Call& call, ScatterKind kind, NodeId x, NodeId updates);

}  // namespace rung::pt2
