// Takes values without elements out of a graph: kernels divide by sizes, and have no form for them.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/words.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"
#include "reference/evaluate.hpp"

namespace rung::passes {
namespace {

bool is_empty(const Graph& graph, NodeId id) { return graph.type(id).elements() == 0; }

bool reads_empty(const Graph& graph, NodeId id) {
  const auto& operands = graph[id].operands;
  return std::ranges::any_of(operands, [&](NodeId operand) { return is_empty(graph, operand); });
}

bool reads_constants_alone(const Graph& graph, NodeId id) {
  const auto& operands = graph[id].operands;
  return std::ranges::all_of(operands, [&](NodeId operand) { return graph.is_constant(operand); });
}

// f(...)  =>  literal      f's result has no elements: nothing decides its value
void replace_by_nothing(Graph& graph, NodeId id) {
  const std::string name = graph[id].label.empty() ? "nothing" : graph[id].label;
  graph.replace_uses(id, graph.literal(name, Tensor(graph.type(id))));
}

// concat(a, nothing, b)  =>  concat(a, b)
void drop_parts(Graph& graph, NodeId id) {
  std::vector<NodeId> parts = graph[id].operands;
  std::erase_if(parts, [&](NodeId part) { return is_empty(graph, part); });
  if (parts.size() == 1) {
    replace_with(graph, id, parts[0]);
  } else {
    replace(graph, id, graph[id].op, parts);
  }
}

// attention(q, mask, nothing, nothing, k, v)  =>  attention(q, mask, k, v)      zeros, where no key is left
void drop_segments(Graph& graph, NodeId id) {
  Attention op = *graph.as<Attention>(id);
  std::vector<NodeId> operands(graph[id].operands.begin(), graph[id].operands.begin() + op.first_key());
  for (size_t i = op.first_key(); i < graph[id].operands.size(); ++i)
    if (!is_empty(graph, graph[id].operands[i])) operands.push_back(graph[id].operands[i]);
  op.segments = static_cast<int64_t>(operands.size() - op.first_key()) / 2;
  if (op.segments > 0) {
    replace(graph, id, op, operands);
  } else {
    const NodeId zero = graph.literal(graph[id].label, Tensor({graph.type(id).dtype, {}}));
    replace(graph, id, Broadcast{graph.shape(id)}, {zero});
  }
}

// sum(nothing), matmul(nothing, nothing), ...  =>  literal      the identity of a sum, a maximum and so on
Status replace_by_value(Graph& graph, NodeId id) {
  RUNG_TRY(Tensor value, evaluate_constant(graph, id));
  graph.replace_uses(id, graph.literal(graph[id].label.empty() ? "of nothing" : graph[id].label, std::move(value)));
  return {};
}

Status drop_at(Graph& graph, NodeId id) {
  const Insertion here(graph, id);
  if (is_empty(graph, id)) return replace_by_nothing(graph, id), Status{};
  if (!reads_empty(graph, id)) return {};
  if (graph.as<Concat>(id)) return drop_parts(graph, id), Status{};
  if (graph.as<Attention>(id)) return drop_segments(graph, id), Status{};
  return reads_constants_alone(graph, id) ? replace_by_value(graph, id) : Status{};
}

// An input without elements stays an input, which nothing reads.
void replace_input(Graph& graph, NodeId input, const std::vector<NodeId>& order) {
  const auto behind = std::ranges::find(order, input) + 1;
  if (behind == order.end()) return;
  const Insertion here(graph, *behind);
  replace_by_nothing(graph, input);
}

}  // namespace

Status drop_empty(Graph& graph, PassContext& context) {
  const std::vector<NodeId> order = graph.order();
  const auto found = std::ranges::count_if(order, [&](NodeId id) { return is_empty(graph, id); });
  if (found == 0) return {};
  for (NodeId id : order) {
    if (graph.is_constant(id)) continue;
    if (!graph.as<Input>(id)) {
      RUNG_CHECK(drop_at(graph, id));
    } else if (is_empty(graph, id)) {
      replace_input(graph, id, order);
    }
  }
  context.notes.add("{} without elements", words::counted(found, "value"));
  return {};
}

}  // namespace rung::passes
