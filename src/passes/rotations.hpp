// Rotations of channels, folded into constants. All nodes are added at the graph's insertion point.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "passes/channels.hpp"

namespace rung::passes {

// Returns how many neighbouring channels are mixed: the largest power of two that divides their number. 1: it is odd,
// and nothing is.
int64_t rotated_run(int64_t channels);

// Return constants of the type of x with its rows, or the last axis, multiplied in such runs by the matrix of Hadamard
// over sqrt(run), which is its own inverse. Computed in f32.
NodeId with_rotated_rows(Graph& graph, NodeId x, const ChannelRows& rows, int64_t run);
NodeId with_rotated_columns(Graph& graph, NodeId x, int64_t run);

}  // namespace rung::passes
