// Copies of constant expressions, for passes that need a weight earlier than its author declared it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>

#include "ir/graph.hpp"

namespace rung::passes {

// Copies nodes to the graph's insertion point; contents are shared, not copied. `id` must depend on constants only.
inline NodeId copy_constant(Graph& graph, NodeId id, std::map<NodeId, NodeId>& copies) {
  if (auto it = copies.find(id); it != copies.end()) return it->second;
  NodeId copy = kNoNode;
  if (graph.is_constant(id)) {
    copy = graph.constant(graph.weight(id));
  } else {
    std::vector<NodeId> operands = graph[id].operands;
    for (NodeId& operand : operands) operand = copy_constant(graph, operand, copies);
    copy = graph.add(graph[id].op, std::move(operands), graph[id].label);
  }
  return copies[id] = copy;
}

}  // namespace rung::passes
