// The values that may hold -inf: additive masks, by which a softmax or an attention leaves elements out.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/graph.hpp"

namespace rung {

// Returns whether ops that carry -inf lead from this value to an op that masks by it; kMaskRule says so in words.
bool leads_to_mask(const Graph& graph, NodeId value);
inline constexpr const char* kMaskRule =
    "adding, scaling, moving or converting an input leads to a softmax or to an attention's mask";

}  // namespace rung
