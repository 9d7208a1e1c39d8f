// The values that may hold -inf: additive masks, by which a softmax or an attention leaves elements out.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/finite.hpp"
#include "ir/graph.hpp"
#include "ir/semantics.hpp"

namespace rung {

// Returns whether ops that carry -inf lead from this value to an op that masks by it; kMaskRule says so in words.
bool leads_to_mask(const Graph& graph, NodeId value);
inline constexpr const char* kMaskRule =
    "adding, scaling, moving or converting an input leads to a softmax, to an attention's mask or to sampling";

// Returns whether an op only moves or converts the elements of an operand, or answers a question on each with a bool:
// what is not finite there means what IEEE 754 says, and touches no other element.
bool reads_apart(const Op& op, const Semantics& semantics, size_t operand, DType result);
// Returns whether all ops that this value gets to as floats read it so.
bool stays_apart(const Graph& graph, NodeId value);
Tolerates tolerated(const Graph& graph, NodeId value);

}  // namespace rung
