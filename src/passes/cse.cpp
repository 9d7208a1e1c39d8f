// Merges common subexpressions: nodes that compute the same from the same operands become one.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <unordered_map>

#include "base/words.hpp"
#include "ir/functions.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"

namespace rung::passes {
namespace {

bool commutes(const Op& op) {
  const auto* binary = as<Binary>(op);
  return binary && facts_of(binary->kind).commutes;
}

// Small literals are the same if their bytes are; other weights only if they are one object.
std::string constant_key(const Graph& graph, NodeId id) {
  constexpr size_t kMaxCompared = size_t{1} << 20;
  const auto& weight = graph.weight(id);
  if (weight->immediate() && weight->type().bytes() <= kMaxCompared) {
    if (auto value = weight->load())
      return fmt::format("literal {} ", weight->type())
          .append(reinterpret_cast<const char*>(value->data()), value->bytes());
  }
  return fmt::format("weight {}", static_cast<const void*>(weight.get()));
}

// Nodes with equal keys have equal values. Operands are already merged, so their ids identify them.
std::string key_of(const Graph& graph, NodeId id) {
  const Node& node = graph[id];
  if (graph.is_constant(id)) return constant_key(graph, id);
  std::vector<NodeId> operands = node.operands;
  if (commutes(node.op)) std::sort(operands.begin(), operands.end());
  std::string key(name_of(node.op));
  key += '(';
  key += fields_to_string(node.op);
  key += ')';
  return key.append(reinterpret_cast<const char*>(operands.data()), operands.size() * sizeof(NodeId));
}

}  // namespace

// y = f(a), z = f(a)  =>  y for both      f is anything but an input: no op has effects
Status cse(Graph& graph, PassContext& context) {
  std::unordered_map<std::string, NodeId> kept;
  size_t merged = 0;
  for_each_node(graph, [&](NodeId id) {
    if (graph.as<Input>(id)) return;
    auto [it, is_new] = kept.try_emplace(key_of(graph, id), id);
    if (is_new) return;
    if (!graph[it->second].alive) {
      it->second = id;
      return;
    }
    replace_with(graph, id, it->second);
    ++merged;
  });
  if (merged) context.notes.add("merged {}", words::counted(merged, "equal value"));
  return {};
}

}  // namespace rung::passes
