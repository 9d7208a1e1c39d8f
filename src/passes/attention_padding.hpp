// What an attention reads where its author's operands have no form of their own: columns and keys of zeros.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/graph.hpp"

namespace rung::passes {

// Returns x with zeros behind its last axis, up to this many columns. New nodes stand at the graph's insertion point.
NodeId with_columns(Graph& graph, NodeId x, int64_t columns);

// Returns a key without a value, [B,1,G,D], for keys [B,K,G,D].
NodeId key_of_zeros(Graph& graph, NodeId keys);

// Returns the mask of `keys` keys (none: zeros) with the sinks [B,H,S,1] as that of one key more, f32.
NodeId mask_with_sinks(Graph& graph, NodeId mask, NodeId sinks, int64_t keys);

}  // namespace rung::passes
