// Moves nodes to an earlier place: each is added there again, and replaces what stood behind.
// SPDX-License-Identifier: Apache-2.0
#include "passes/move_before.hpp"

#include <map>
#include <optional>
#include <vector>

#include "passes/rewrite.hpp"

namespace rung::passes {
namespace {

using InOrder = std::map<uint32_t, NodeId>;  // by position in the graph

// Returns what `ids` need of all that stands behind `place`, themselves included; nullopt: it cannot move.
std::optional<InOrder> needed_behind(const Graph& graph, NodeId place, std::span<const NodeId> ids) {
  std::vector<uint32_t> position(graph.capacity());
  uint32_t next = 0;
  for (const NodeId id : graph.order()) position[id] = next++;
  InOrder found;
  std::vector<NodeId> pending(ids.begin(), ids.end());
  while (!pending.empty()) {
    const NodeId id = pending.back();
    pending.pop_back();
    if (position[id] < position[place]) continue;
    if (id == place || graph.as<Input>(id)) return std::nullopt;
    if (!found.emplace(position[id], id).second) continue;
    pending.insert(pending.end(), graph[id].operands.begin(), graph[id].operands.end());
  }
  return found;
}

}  // namespace

bool move_before(Graph& graph, NodeId place, std::span<NodeId> ids) {
  const auto needed = needed_behind(graph, place, ids);
  if (!needed) return false;
  Insertion here(graph, place);
  for (const auto& [position, old] : *needed) {
    const Node node = graph[old];
    const NodeId moved =
        graph.is_constant(old) ? graph.constant(graph.weight(old)) : graph.add(node.op, node.operands, node.label);
    for (NodeId& id : ids)
      if (id == old) id = moved;
    graph.replace_uses(old, moved);
    graph.erase(old);
  }
  return true;
}

}  // namespace rung::passes
