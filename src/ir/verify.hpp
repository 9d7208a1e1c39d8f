// Checks every invariant of a graph; the runner calls it after each pass that changed something.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/graph.hpp"

namespace rung {

// Checks that operands come earlier and are alive, use lists agree, every type is what infer_type gives, constants hold
// weights of their type, and names of inputs and of outputs are unique. The error names the node.
Status verify(const Graph& graph);

}  // namespace rung
