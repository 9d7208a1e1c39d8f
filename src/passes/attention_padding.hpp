// Operands of an attention with columns and keys of zeros, for what has no form of its own in the op.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/graph.hpp"

namespace rung::passes {

// Returns x with zeros behind its last axis, up to this many columns. New nodes stand at the graph's insertion point.
NodeId with_columns(Graph& graph, NodeId x, int64_t columns);

// Returns a key without a value, [B,1,G,D], for keys [B,K,G,D].
NodeId key_of_zeros(Graph& graph, NodeId keys);

// Returns the mask of `keys` keys (none: zeros) and behind it the extra scores [B,H,S,1] of a key of zeros, f32.
NodeId mask_with_extra(Graph& graph, NodeId mask, NodeId extra, int64_t keys);

}  // namespace rung::passes
