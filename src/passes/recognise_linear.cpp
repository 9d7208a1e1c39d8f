// Turns a product with a constant matrix into a linear, and a constant vector added to it into its bias; its rows keep
// the axes that its author gave them.
// SPDX-License-Identifier: Apache-2.0
#include "base/words.hpp"
#include "ir/match.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"

namespace rung::passes {
namespace {

// matmul(x, w)  =>  linear(x, w')      w is a constant matrix
bool use_linear(Graph& graph, PassContext& context, NodeId id, const std::vector<bool>& constant) {
  if (!graph.as<MatMul>(id)) return false;
  NodeId x = graph[id].operands[0], w = graph[id].operands[1];
  if (w >= constant.size() || !constant[w] || graph.shape(w).rank() != 2) return false;
  Insertion here(graph, id);
  std::vector<NodeId> operands{x, transposed(graph, w, {1, 0}, graph[w].label)};
  return replace_if_kernel(graph, context, id, Linear{.out = graph.type(id).dtype}, std::move(operands));
}

// add(linear(x, w), b)  =>  linear(x, w, b)      b is a constant vector; the linear is plain and has no other reader
bool add_bias(Graph& graph, PassContext& context, NodeId id, const std::vector<bool>& constant) {
  static const Pattern kSum =
      binary(BinaryKind::add, op<Linear>(any("x"), any("w")).one_use().named("linear"), any("bias"));
  auto m = match(graph, id, kSum);
  if (!m) return false;
  NodeId linear = (*m)["linear"], bias = (*m)["bias"];
  Linear op = *graph.as<Linear>(linear);
  if (!op.is_plain() || op.has(LinearSlot::bias)) return false;
  if (bias >= constant.size() || !constant[bias] || !(graph.shape(bias) == Shape{graph.shape(linear).back()}))
    return false;
  std::vector<NodeId> operands = graph[linear].operands;
  op.slots.put(operands, LinearSlot::bias, bias);
  return replace_if_kernel(graph, context, id, op, std::move(operands));
}

// reshape(linear(reshape(x), w))  =>  linear(reshape(x), w)      the outer reshape keeps the columns; the linear is
// plain and has no other reader
bool keep_rows(Graph& graph, PassContext& context, NodeId id) {
  static const Pattern kMerged = op<Reshape>(op<Linear>().one_use().named("linear"));
  auto m = match(graph, id, kMerged);
  if (!m) return false;
  const NodeId linear = (*m)["linear"], merged = graph[linear].operands[0];
  const Shape result = graph.shape(id);
  if (!graph.as<Reshape>(merged) || !graph.as<Linear>(linear)->is_plain()) return false;
  if (result.rank() < 2 || result.back() != graph.shape(linear).back()) return false;
  Shape rows = result;
  rows[rows.rank() - 1] = graph.shape(merged).back();
  Insertion here(graph, id);
  std::vector<NodeId> operands = graph[linear].operands;
  operands[0] = reshaped(graph, merged, rows, graph[merged].label);
  return replace_if_kernel(graph, context, id, *graph.as<Linear>(linear), std::move(operands));
}

}  // namespace

Status recognise_linear(Graph& graph, PassContext& context) {
  const std::vector<bool> constant = constant_nodes(graph);
  size_t found = 0;
  for_each_node(graph, [&](NodeId id) {
    found += use_linear(graph, context, id, constant) || add_bias(graph, context, id, constant) ||
             keep_rows(graph, context, id);
  });
  if (found)
    context.notes.add("{} with constants became linears", words::counted(found, "product or sum", "products and sums"));
  return {};
}

}  // namespace rung::passes
