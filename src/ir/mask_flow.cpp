// Follows masks op by op.
// SPDX-License-Identifier: Apache-2.0
#include "ir/mask_flow.hpp"

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

}  // namespace rung
