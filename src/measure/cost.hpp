// The least work an op needs, and the least time that takes on a machine of given peaks.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/graph.hpp"

namespace rung {

// Flops: ir/semantics.hpp. Bytes: each distinct operand read once and the results written once; of a gathered table
// only what is picked. Sources and views cost nothing.
struct Cost {
  double flops = 0, bytes = 0;
};

// Operands are taken as distinct.
Cost cost_of(const Op& op, std::span<const Type> operands, const Type& result);
// The same where an operand read twice is counted once.
Cost cost_of(const Graph& graph, NodeId node);

// The longer of computing and moving; a peak that is not positive is unknown and sets no floor.
double floor_seconds(const Cost& cost, double peak_flops, double peak_bytes_per_second);

}  // namespace rung
