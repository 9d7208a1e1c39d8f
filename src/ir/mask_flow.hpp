// Which values may hold -inf: additive masks, by which a softmax or an attention leaves something out.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/graph.hpp"

namespace rung {

// What an op makes of an operand that holds -inf beside numbers.
enum class MaskRole : uint8_t {
  none,     // computes with it: the result is spoilt
  carries,  // adds, scales, moves or converts it: the result is a mask, or masked scores
  reads,    // leaves out what it is added to: softmax, and attention of its mask
};
// Of operand number `at` of `operands`.
MaskRole mask_role(const Op& op, size_t at, size_t operands);

// Do ops that carry it lead from this value to one that reads it? The rule in words is kMaskRule.
bool leads_to_mask(const Graph& graph, NodeId value);
inline constexpr const char* kMaskRule =
    "adding, scaling, moving or converting an input leads to a softmax or to an attention's mask";

}  // namespace rung
