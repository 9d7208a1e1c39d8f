// The graph surgery that rewrites share.
// SPDX-License-Identifier: Apache-2.0
#include "passes/rewrite.hpp"

#include <algorithm>

namespace rung::passes {

void erase_unused(Graph& graph, NodeId id) {
  std::vector<NodeId> pending{id};
  while (!pending.empty()) {
    NodeId next = pending.back();
    pending.pop_back();
    const Node& node = graph[next];
    if (!node.alive || !node.users.empty() || node.output_uses || graph.as<Input>(next)) continue;
    std::vector<NodeId> operands = node.operands;
    graph.erase(next);
    pending.insert(pending.end(), operands.begin(), operands.end());
  }
}

bool replace_with(Graph& graph, NodeId old, NodeId by) {
  graph.replace_uses(old, by);
  erase_unused(graph, old);
  return true;
}

NodeId replace(Graph& graph, NodeId old, Op op, std::vector<NodeId> operands) {
  Insertion here(graph, old);
  NodeId by = graph.add(std::move(op), std::move(operands), graph[old].label);
  replace_with(graph, old, by);
  return by;
}

bool replace_if_kernel(Graph& graph, PassContext& context, NodeId old, const Op& op, std::vector<NodeId> operands) {
  if (!context.kernel_for(graph, op, operands)) return false;
  replace(graph, old, op, std::move(operands));
  return true;
}

int axis_in(const Graph& graph, NodeId x, int64_t axis) {
  int rank = graph.shape(x).rank();
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

std::optional<double> uniform_value(const Graph& graph, NodeId id) {
  const bool is_index = graph.type(id).dtype == DType::i64 || graph.type(id).dtype == DType::i32;
  const int64_t most = is_index ? 4096 : 64;  // a table of indices has one for each position
  while (is_view(graph[id].op)) id = graph[id].operands[0];
  if (!graph.is_constant(id) || !graph.weight(id)->immediate()) return std::nullopt;
  const Type& type = graph.type(id);
  if (type.elements() < 1 || type.elements() > most) return std::nullopt;
  auto value = graph.weight(id)->load();
  if (!value) return std::nullopt;
  if (is_index) {  // f32 would round large integers
    const Tensor wide = convert(*value, DType::i64);
    auto all = wide.as<int64_t>();
    if (std::any_of(all.begin(), all.end(), [&](int64_t v) { return v != all[0]; })) return std::nullopt;
    return static_cast<double>(all[0]);
  }
  Tensor wide = convert(*value, DType::f32);
  auto all = wide.as<float>();
  if (std::any_of(all.begin(), all.end(), [&](float v) { return v != all[0]; })) return std::nullopt;
  return all[0];
}

std::optional<std::vector<int64_t>> index_values(const Graph& graph, NodeId id) {
  if (!graph.is_constant(id) || !graph.weight(id)->immediate() || is_float(graph.type(id).dtype)) return std::nullopt;
  auto value = graph.weight(id)->load();
  if (!value) return std::nullopt;
  Tensor wide = convert(*value, DType::i64);
  auto all = wide.as<int64_t>();
  return std::vector<int64_t>(all.begin(), all.end());
}

bool is_contiguous(const std::vector<int64_t>& indices) {
  for (size_t i = 0; i < indices.size(); ++i)
    if (indices[i] != indices[0] + static_cast<int64_t>(i)) return false;
  return !indices.empty();
}

NodeId reshaped(Graph& graph, NodeId x, const Shape& shape, const std::string& label) {
  while (graph.as<Reshape>(x)) x = graph[x].operands[0];
  if (graph.shape(x) == shape) return x;
  return graph.add(Reshape{shape}, {x}, label);
}

bool is_identity(const Dims& permutation) {
  for (int i = 0; i < permutation.rank(); ++i)
    if (permutation[i] != i) return false;
  return true;
}

Dims compose(const Dims& inner, const Dims& outer) {
  Dims both = outer;
  for (int i = 0; i < outer.rank(); ++i) both[i] = inner[static_cast<int>(outer[i])];
  return both;
}

Dims inverse(const Dims& permutation) {
  Dims back = permutation;
  for (int i = 0; i < permutation.rank(); ++i) back[static_cast<int>(permutation[i])] = i;
  return back;
}

NodeId transposed(Graph& graph, NodeId x, const Dims& permutation, const std::string& label) {
  Dims all = permutation;
  while (const auto* inner = graph.as<Transpose>(x)) {
    all = compose(inner->permutation, all);
    x = graph[x].operands[0];
  }
  if (is_identity(all)) return x;
  return graph.add(Transpose{all}, {x}, label);
}

NodeId cast_to(Graph& graph, NodeId x, DType dtype) {
  return graph.type(x).dtype == dtype ? x : graph.add(Cast{dtype}, {x}, graph[x].label);
}

}  // namespace rung::passes
