// The axes of batches and heads of an attention's scores, where an author joins them or takes them apart on the way.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/graph.hpp"

namespace rung::passes {

// Returns x [N,S,K] as [B,H,S,K] and x [1,S,K] as [1,1,S,K]. New nodes stand at the graph's insertion point.
NodeId with_batch(Graph& graph, NodeId x, const Dims& batch);

// Computes scores [B,H,S,K] as such where they are reshaped to them. Returns whether it changed anything.
bool settle_batch_of_scores(Graph& graph, NodeId id);

}  // namespace rung::passes
