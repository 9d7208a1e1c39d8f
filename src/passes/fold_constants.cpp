// Evaluates small constant expressions; what depends on weights in files stays for the plan builder, which computes it
// once.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "passes/passes.hpp"
#include "passes/rewrite.hpp"
#include "reference/evaluate.hpp"

namespace rung::passes {
namespace {

constexpr int64_t kMaxElements = int64_t{1} << 20;

bool is_small(const Graph& graph, NodeId id) { return graph.type(id).elements() <= kMaxElements; }

bool is_foldable(const Graph& graph, NodeId id, const std::vector<bool>& foldable) {
  if (graph.is_constant(id)) return graph.weight(id)->immediate() && is_small(graph, id);
  const std::vector<NodeId>& operands = graph[id].operands;
  return !operands.empty() && is_small(graph, id) &&
         std::all_of(operands.begin(), operands.end(), [&](NodeId o) { return o < foldable.size() && foldable[o]; });
}

// A broadcast stays a view: as a literal it would only be larger.
bool stays_a_node(const Graph& graph, NodeId id) { return graph.is_constant(id) || graph.as<Broadcast>(id); }

}  // namespace

// f(literals)  =>  literal      f's result and all it reads are small and at hand
Status fold_constants(Graph& graph, PassContext& context) {
  std::vector<bool> foldable(graph.capacity());
  size_t folded = 0;
  for (NodeId id : graph.order()) {
    foldable[id] = is_foldable(graph, id, foldable);
    if (!foldable[id] || stays_a_node(graph, id)) continue;
    RUNG_TRY(Tensor value, evaluate_constant(graph, id));
    Insertion here(graph, id);
    NodeId literal = graph.literal(graph[id].label.empty() ? "folded" : graph[id].label, std::move(value));
    graph.replace_uses(id, literal);
    foldable.resize(graph.capacity());
    foldable[literal] = true;
    ++folded;
  }
  if (folded) context.notes.add("computed {} constant values", folded);
  return {};
}

}  // namespace rung::passes
