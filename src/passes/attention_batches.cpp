// The axes of batches and heads of an attention's scores, where an author joins them or takes them apart on the way.
// SPDX-License-Identifier: Apache-2.0
#include "passes/attention_batches.hpp"

#include "passes/rewrite.hpp"

namespace rung::passes {
namespace {

// reshape(matmul(q, k'), [B,H,S,K])  =>  matmul(reshape(q, [B,H,S,D]), reshape(k', [B,H,D,K]))
// The product of [B H,S,D] and [B H,D,K], whose batch and heads are one axis.
bool split_product(Graph& graph, NodeId id) {
  const NodeId product = graph[id].operands[0];
  if (!graph.as<MatMul>(product) || !graph.single_use(product)) return false;
  const Shape &apart = graph.shape(id), &one = graph.shape(product);
  if (one.rank() != 3 || apart.rank() != 4 || apart[2] != one[1] || apart[3] != one[2]) return false;
  std::vector<NodeId> operands = graph[product].operands;
  for (const NodeId operand : operands)
    if (graph.shape(operand).rank() != 3 || graph.shape(operand)[0] != one[0]) return false;
  Insertion here(graph, id);
  for (NodeId& operand : operands) operand = with_batch(graph, operand, {apart[0], apart[1]});
  return replace_with(graph, id, graph.add(MatMul{}, operands, graph[product].label));
}

// Returns a mask that broadcasts to [A,W,H,S,K] as one that broadcasts to [A W,H,S,K].
NodeId mask_of_windows(Graph& graph, NodeId mask, const Shape& apart) {
  Shape shape = graph.shape(mask);
  while (shape.rank() < 5) shape.insert(0, 1);
  const bool is_shared = shape[0] == 1 && shape[1] == 1;
  if (!is_shared && (shape[0] != apart[0] || shape[1] != apart[1])) {
    shape[0] = apart[0], shape[1] = apart[1];
    mask = graph.add(Broadcast{shape}, {mask}, graph[mask].label);
  }
  const int64_t windows = is_shared ? 1 : apart[0] * apart[1];
  shape.erase(0), shape[0] = windows;
  return reshaped(graph, mask, shape, graph[mask].label);
}

// reshape(add(reshape(s: [N,H,S,K], [A,W,H,S,K]), mask), [N,H,S,K])  =>  add(s, mask')
// Windows of images, of which each has its mask: N = A W.
bool add_mask_of_windows(Graph& graph, NodeId id) {
  const NodeId sum = graph[id].operands[0];
  const auto* binary = graph.as<Binary>(sum);
  if (!binary || binary->kind != BinaryKind::add || !graph.single_use(sum)) return false;
  const Shape wanted = graph.shape(id), apart = graph.shape(sum);
  if (wanted.rank() != 4 || apart.rank() != 5) return false;
  for (const size_t i : {size_t{0}, size_t{1}}) {
    const NodeId scores = graph[sum].operands[i], mask = graph[sum].operands[1 - i];
    if (!graph.as<Reshape>(scores) || !graph.single_use(scores) || graph.shape(scores) != apart) continue;
    const NodeId whole = graph[scores].operands[0];
    const bool keeps = apart[2] == wanted[1] && apart[3] == wanted[2] && apart[4] == wanted[3];
    if (!keeps || graph.shape(whole) != wanted) continue;
    Insertion here(graph, id);
    const NodeId joined = mask_of_windows(graph, mask, apart);
    return replace_with(graph, id, graph.add(Binary{BinaryKind::add}, {whole, joined}, graph[sum].label));
  }
  return false;
}

}  // namespace

NodeId with_batch(Graph& graph, NodeId x, const Dims& batch) {
  Dims shape = graph.shape(x);
  const bool is_shared = shape[0] == 1;
  shape[0] = is_shared ? 1 : batch[1];
  shape.insert(0, is_shared ? 1 : batch[0]);
  return reshaped(graph, x, shape, graph[x].label);
}

bool settle_batch_of_scores(Graph& graph, NodeId id) {
  return graph.as<Reshape>(id) && (split_product(graph, id) || add_mask_of_windows(graph, id));
}

}  // namespace rung::passes
