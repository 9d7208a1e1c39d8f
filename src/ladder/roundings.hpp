// Where a graph rounds floats to integers of 8 bits, and what a value beside the one it rounds would become there.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <vector>

#include "ir/graph.hpp"

namespace rung {

struct Rounding {
  NodeId value = kNoNode;     // in steps, before it is rounded
  std::vector<NodeId> steps;  // from value to bytes, in order: rounding, zero point, limits; the last one is the cast
  NodeId bytes() const { return steps.back(); }
};

// Returns whether floats become integers of 8 bits, whose steps may make much of a last digit.
bool rounds_to_bytes(const Graph& graph);

// Returns the roundings of values that depend on inputs, in the graph's order. Errors name a value that becomes an
// integer of 8 bits in another way, such as by truncation.
Result<std::vector<Rounding>> roundings_of(const Graph& graph);

// The operands of a rounding's steps, by node, as an evaluation found them.
using StepOperands = std::map<NodeId, std::vector<Tensor>>;

// Returns the value before it is rounded, of those operands.
const Tensor& value_in(const Rounding& rounding, const StepOperands& operands);
// Returns what becomes of the value if it is another one.
Result<Tensor> rounded(const Graph& graph, const Rounding& rounding, const StepOperands& operands, const Tensor& value);

}  // namespace rung
