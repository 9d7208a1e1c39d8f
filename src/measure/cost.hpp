// The least work an op needs, and the least time that takes on a machine of given peaks.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/graph.hpp"

namespace rung {

// Flops are counted as in ir/semantics.hpp. Bytes are each distinct operand read once and the results written once; a
// gathered table counts only the rows picked. Sources and views cost nothing.
struct Cost {
  double flops = 0, bytes = 0;
};

// Takes the operands as distinct.
Cost cost_of(const Op& op, std::span<const Type> operands, const Type& result);
// Counts an operand that the node reads twice once.
Cost cost_of(const Graph& graph, NodeId node);

// Returns the longer of the times of computing and moving; a peak that is not positive is unknown and sets no floor.
double floor_seconds(const Cost& cost, double peak_flops, double peak_bytes_per_second);

}  // namespace rung
