// Follows masks op by op.
// SPDX-License-Identifier: Apache-2.0
#include "ir/mask_flow.hpp"

#include <algorithm>

namespace rung {

bool leads_to_mask(const Graph& graph, NodeId value) {
  std::vector<NodeId> open{value};
  std::vector<bool> seen(graph.capacity());
  while (!open.empty()) {
    const NodeId from = open.back();
    open.pop_back();
    if (seen[from]) continue;
    seen[from] = true;
    for (NodeId user : graph[from].users) {
      const std::vector<NodeId>& operands = graph[user].operands;
      const Semantics semantics = semantics_of(graph, user);
      for (size_t at = 0; at < operands.size(); ++at) {
        if (operands[at] != from) continue;
        if (semantics.operands[at].infinity == InfinityUse::masks) return true;
        if (semantics.operands[at].infinity == InfinityUse::carries) open.push_back(user);
      }
    }
  }
  return false;
}

bool reads_apart(const Op& op, const Semantics& semantics, size_t operand, DType result) {
  const OperandUse& use = semantics.operands[operand];
  if (use.role != OperandRole::data) return false;
  const auto is_alone = [](const AxisRead& read) {
    return read.kind == AxisRead::Kind::same || read.kind == AxisRead::Kind::broadcast;
  };
  if (semantics.flops == 0) return true;
  return (as<Formula>(op) || !is_float(result)) && std::ranges::all_of(use.axes, is_alone);
}

bool stays_apart(const Graph& graph, NodeId value) {
  std::vector<NodeId> open{value};
  std::vector<bool> seen(graph.capacity());
  while (!open.empty()) {
    const NodeId from = open.back();
    open.pop_back();
    if (seen[from]) continue;
    seen[from] = true;
    for (NodeId user : graph[from].users) {
      const std::vector<NodeId>& operands = graph[user].operands;
      const Semantics semantics = semantics_of(graph, user);
      for (size_t at = 0; at < operands.size(); ++at)
        if (operands[at] == from &&
            (at >= semantics.operands.size() || !reads_apart(graph[user].op, semantics, at, graph.type(user).dtype)))
          return false;
      if (is_float(graph.type(user).dtype)) open.push_back(user);
    }
  }
  return true;
}

Tolerates tolerated(const Graph& graph, NodeId value) {
  if (stays_apart(graph, value)) return Tolerates::all;
  return leads_to_mask(graph, value) ? Tolerates::minus_infinity : Tolerates::numbers;
}

}  // namespace rung
