// Which values may hold -inf: additive masks, by which a softmax or an attention leaves something out.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/graph.hpp"

namespace rung {

// Do ops that carry it lead from this value to one that reads it? The rule in words is kMaskRule.
bool leads_to_mask(const Graph& graph, NodeId value);
inline constexpr const char* kMaskRule =
    "adding, scaling, moving or converting an input leads to a softmax or to an attention's mask";

}  // namespace rung
