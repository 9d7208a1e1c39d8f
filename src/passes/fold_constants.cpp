// Evaluates small constant expressions; the plan builder computes expressions of weights in files, once.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "base/words.hpp"
#include "ir/windows.hpp"
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
  return !operands.empty() && is_small(graph, id) && !widens_windows(graph[id].op, graph.type(operands[0])) &&
         std::all_of(operands.begin(), operands.end(), [&](NodeId o) { return o < foldable.size() && foldable[o]; });
}

// A broadcast stays a view: as a literal it would only be larger.
bool stays_a_node(const Graph& graph, NodeId id) { return graph.is_constant(id) || graph.as<Broadcast>(id); }

bool is_uniform(const Tensor& value) {
  size_t size = size_of(value.dtype());
  const std::byte* first = value.data();
  for (size_t i = size; i < value.bytes(); i += size)
    if (std::memcmp(first, first + i, size) != 0) return false;
  return value.bytes() > 0;
}

// Adds a literal, or, for a long one of equal elements, a broadcast of its number: rules that look for zeros and ones
// then see it.
NodeId add_literal(Graph& graph, const std::string& name, const Tensor& value) {
  constexpr int64_t kLong = 64;
  if (value.elements() <= kLong || !is_uniform(value)) return graph.literal(name, value);
  Tensor number({value.dtype(), {}});
  std::memcpy(number.data(), value.data(), number.bytes());
  return graph.add(Broadcast{value.shape()}, {graph.literal(name, std::move(number))}, name);
}

}  // namespace

// f(literals)  =>  literal      f's result and operands are small and in memory
Status fold_constants(Graph& graph, PassContext& context) {
  std::vector<bool> foldable(graph.capacity());
  size_t folded = 0;
  for (NodeId id : graph.order()) {
    foldable[id] = is_foldable(graph, id, foldable);
    if (!foldable[id] || stays_a_node(graph, id)) continue;
    RUNG_TRY(Tensor value, evaluate_constant(graph, id));
    Insertion here(graph, id);
    const std::string name = graph[id].label.empty() ? "folded" : graph[id].label;
    NodeId literal = add_literal(graph, name, value);
    graph.replace_uses(id, literal);
    foldable.resize(graph.capacity());
    foldable[literal] = true;
    ++folded;
  }
  if (folded) context.notes.add("computed {}", words::counted(folded, "constant value"));
  return {};
}

}  // namespace rung::passes
