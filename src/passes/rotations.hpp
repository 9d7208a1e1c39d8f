// Rotations of channels, folded into constants. All nodes are added at the graph's insertion point.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "passes/channels.hpp"

namespace rung::passes {

// Returns the matrix of Hadamard over sqrt(n), f32[n,n], which is its own inverse; n is the largest power of two that
// divides `channels`, each run of n of which it rotates. kNoNode: `channels` is odd.
NodeId rotation_of(Graph& graph, int64_t channels);

// Return constants of the same type with rotated runs of those rows, or of the last axis. Computed in f32.
NodeId with_rotated_rows(Graph& graph, NodeId x, const ChannelRows& rows, NodeId rotation);
NodeId with_rotated_columns(Graph& graph, NodeId x, NodeId rotation);

}  // namespace rung::passes
