// Follows each op of a model to the op that does its work after the passes.
// SPDX-License-Identifier: Apache-2.0
#include "passes/origins.hpp"

namespace rung {
namespace {

// Returns the op whose result holds the value of a view or of a further result.
NodeId holder_of(const Graph& graph, NodeId id) {
  while (is_view(graph[id].op) || graph.as<NthResult>(id)) id = graph[id].operands[0];
  return id;
}

}  // namespace

std::vector<std::vector<NodeId>> origins(const Graph& model, const Graph& rewritten) {
  const auto constant = constant_nodes(model);
  std::vector<std::vector<NodeId>> found(rewritten.capacity());
  for (NodeId id : model.order()) {
    if (constant[id] || model.as<Input>(id) || is_view(model[id].op)) continue;
    const NodeId heir = rewritten.heir(id);
    if (heir != kNoNode) found[holder_of(rewritten, heir)].push_back(id);
  }
  return found;
}

}  // namespace rung
