// Joins heads on their way into caches and their attention over these caches into one op.
// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "base/words.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"

namespace rung::passes {
namespace {

// Returns the value that an operand shows, perhaps in another shape.
NodeId shown_by(const Graph& graph, NodeId operand) {
  return graph.as<Reshape>(operand) ? graph[operand].operands[0] : operand;
}

// An attention, the heads whose queries it reads, and their caches.
struct HeadsBehind {
  NodeId heads, keys, values;
};
std::optional<HeadsBehind> heads_behind(const Graph& graph, NodeId attention) {
  const auto& operands = graph[attention].operands;
  const size_t first = graph.as<Attention>(attention)->first_key();
  const HeadsBehind found{shown_by(graph, operands[0]), shown_by(graph, operands[first]),
                          shown_by(graph, operands[first + 1])};
  const auto is_result = [&](NodeId id, size_t index) {
    const auto* result = graph.as<NthResult>(id);
    return result && result->index == static_cast<int64_t>(index) && graph[id].operands[0] == found.heads;
  };
  if (!graph.as<CacheHeads>(found.heads) || !is_result(found.keys, CacheHeads::kKeys) ||
      !is_result(found.values, CacheHeads::kValues))
    return std::nullopt;
  if (graph[found.heads].users.size() != 3 || graph.is_output(found.heads)) return std::nullopt;
  for (const NodeId cache : {found.keys, found.values})
    if (graph[cache].users.size() != 1) return std::nullopt;
  for (const size_t i : {size_t{0}, first, first + 1})
    if (graph.as<Reshape>(operands[i]) && !graph.single_use(operands[i])) return std::nullopt;
  return found;
}

// attention(q of cache_heads(...), length, its result 1, its result 2)  =>  cached_attention(..., length)
//   nobody else reads q, or the caches but as they are left to the next run; the attention's result is plain.
bool take_heads_in(Graph& graph, PassContext& context, NodeId attention) {
  const auto* op = graph.as<Attention>(attention);
  if (!op || !op->has_length()) return false;
  const auto found = heads_behind(graph, attention);
  if (!found) return false;
  const auto& heads = *graph.as<CacheHeads>(found->heads);
  const CachedAttention made{.eps = heads.eps,
                             .weight_offset = heads.weight_offset,
                             .scale = op->scale,
                             .softcap = op->softcap,
                             .span = op->span};
  if (made.attention() != *op) return false;
  std::vector<NodeId> operands = graph[found->heads].operands;
  operands.push_back(graph[attention].operands[op->slots.before(AttentionSlot::length)]);
  if (!graph.infer(made, operands) || !context.kernel_for(graph, made, operands)) return false;
  Insertion here(graph, attention);
  const NodeId out = graph.add(made, operands, graph[attention].label);
  const NodeId keys = graph.add(NthResult{1}, {out}, graph[found->keys].label);
  const NodeId values = graph.add(NthResult{2}, {out}, graph[found->values].label);
  replace_with(graph, found->keys, keys);
  replace_with(graph, found->values, values);
  replace_with(graph, attention, reshaped(graph, out, graph.shape(attention), graph[attention].label));
  return true;
}

}  // namespace

Status fuse_cached_attention(Graph& graph, PassContext& context) {
  size_t fused = 0;
  for_each_node(graph, [&](NodeId id) { fused += take_heads_in(graph, context, id); });
  if (fused)
    context.notes.add("{} of its heads to their caches",
                      words::counted(fused, "attention took in the way", "attentions took in the way"));
  return {};
}

}  // namespace rung::passes
