// The problem that a node of a graph from text is to kernel rows.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/cpu/bind.hpp"

namespace rung::test {

// On one thread; inputs whose names begin with w are constants.
inline Problem problem_in(const Graph& graph, NodeId node) {
  Problem problem = cpu::problem_of(graph, node, 1);
  for (size_t i = 0; i < problem.inputs.size(); ++i) {
    const auto view = cpu::resolve_view(graph, graph[node].operands[i]);
    if (const auto* input = graph.as<Input>(view.base)) problem.inputs[i].constant = input->name[0] == 'w';
  }
  return problem;
}

}  // namespace rung::test
