// Turns the mean over the tokens that a mask keeps, as sentence encoders pool, into one op.
// SPDX-License-Identifier: Apache-2.0
#include "base/words.hpp"
#include "ir/match.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"

namespace rung::passes {
namespace {

// Finds the mask [B,S] (or [B,S,1]) under broadcasts, reshapes and at most one cast; kNoNode if it is not one value per
// token, or has fewer axes than the three of `hidden` where x is multiplied by it.
NodeId token_mask(const Graph& graph, NodeId id, const Shape& hidden) {
  if (graph.shape(id).rank() != 3) return kNoNode;
  const Shape column{hidden[0], hidden[1], 1}, flat{hidden[0], hidden[1]};
  int casts = 0;
  while (true) {
    const Shape& shape = graph.shape(id);
    bool is_column = shape == column || shape == flat;
    if (graph.as<Cast>(id) && casts++ == 0) {
    } else if (graph.as<Broadcast>(id) && shape == hidden && graph.shape(graph[id].operands[0]) == column) {
    } else if (graph.as<Reshape>(id) && is_column && graph.shape(graph[id].operands[0]) == flat) {
    } else {
      return is_column ? id : kNoNode;
    }
    id = graph[id].operands[0];
  }
}

bool sums_tokens(const Graph& graph, NodeId sum) {
  const auto& reduce = *graph.as<Reduce>(sum);
  NodeId x = graph[sum].operands[0];
  return reduce.kind == ReduceKind::sum && !reduce.keep_dim && graph.shape(x).rank() == 3 &&
         axis_in(graph, x, reduce.axis) == 1;
}

// sum(x * mask) / max(sum(mask), eps) over tokens  =>  masked_mean(x, mask)
bool fuse_mean(Graph& graph, PassContext& context, NodeId id) {
  static const Pattern kMean = binary(
      BinaryKind::div, op<Reduce>(binary(BinaryKind::mul, any("x"), any("mask")).one_use()).one_use().named("sum"),
      binary(BinaryKind::max, op<Reduce>(any("counted")).named("count"), any("eps")));
  auto m = match(graph, id, kMean);
  if (!m || !sums_tokens(graph, (*m)["sum"]) || !sums_tokens(graph, (*m)["count"])) return false;
  NodeId x = (*m)["x"], mask = (*m)["mask"];
  NodeId root = graph.shape(x).rank() == 3 ? token_mask(graph, mask, graph.shape(x)) : kNoNode;
  if (root == kNoNode) {
    std::swap(x, mask);
    root = graph.shape(x).rank() == 3 ? token_mask(graph, mask, graph.shape(x)) : kNoNode;
  }
  auto eps = uniform_value(graph, (*m)["eps"]);
  if (!(graph.type(id) == graph.type((*m)["sum"]))) return false;
  if (root == kNoNode || root != token_mask(graph, (*m)["counted"], graph.shape(x)) || !eps) return false;
  Insertion here(graph, id);
  NodeId flat = reshaped(graph, root, {graph.shape(x)[0], graph.shape(x)[1]}, graph[root].label);
  std::vector<NodeId> operands{x, cast_to(graph, flat, DType::f32)};
  MaskedMean op{static_cast<float>(*eps)};
  if (graph.type(x).dtype != graph.type(id).dtype || !context.kernel_for(graph, op, operands)) return false;
  replace(graph, id, op, std::move(operands));
  return true;
}

}  // namespace

Status fuse_masked_mean(Graph& graph, PassContext& context) {
  size_t fused = 0;
  for_each_node(graph, [&](NodeId id) { fused += fuse_mean(graph, context, id); });
  if (fused)
    context.notes.add("{}", words::counted(fused, "masked mean became one op", "masked means became one op each"));
  return {};
}

}  // namespace rung::passes
