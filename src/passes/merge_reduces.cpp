// Merges reductions of neighbouring axes, such as a mean over an image's rows and columns, into one over both.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/words.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"

namespace rung::passes {
namespace {

// Longer lines are faster in two steps: a device shares the first of them among all results of the second.
constexpr int64_t kLongest = 1024;

// Returns whether the value's elements stand in row order, so that merging its axes copies nothing.
bool is_dense(const Graph& graph, NodeId id) {
  return !graph.as<Transpose>(id) && !graph.as<Slice>(id) && !graph.as<Broadcast>(id);
}

// reduce(reduce(x, axis=a), axis=b)  =>  reshape(reduce(reshape(x), axis=min(a, b)))
// Both are of one kind, only the second reads the first, their axes are neighbours in x, and lines stay short.
bool merge(Graph& graph, NodeId id) {
  const auto* outer = graph.as<Reduce>(id);
  if (!outer) return false;
  const NodeId inside = graph[id].operands[0];
  const auto* inner = graph.as<Reduce>(inside);
  if (!inner || inner->kind != outer->kind || !graph.single_use(inside)) return false;
  const NodeId x = graph[inside].operands[0];
  const int first = axis_in(graph, x, inner->axis);
  int second = axis_in(graph, inside, outer->axis);
  if (!inner->keep_dim && second >= first) ++second;  // as x counts it
  const Shape& shape = graph.shape(x);
  if (std::abs(first - second) != 1 || shape[first] * shape[second] > kLongest || !is_dense(graph, x)) return false;
  const int axis = std::min(first, second);
  Dims merged(shape);
  merged[axis] *= merged[axis + 1];
  merged.erase(axis + 1);
  Insertion here(graph, id);
  const NodeId lines = reshaped(graph, x, Shape(merged), graph[id].label);
  const NodeId reduced = graph.add(Reduce{inner->kind, axis, false}, {lines}, graph[id].label);
  return replace_with(graph, id, reshaped(graph, reduced, graph.shape(id), graph[id].label));
}

}  // namespace

Status merge_reduces(Graph& graph, PassContext& context) {
  size_t merged = 0;
  for_each_node(graph, [&](NodeId id) { merged += merge(graph, id); });
  if (merged) context.notes.add("{} of neighbouring axes merged", words::counted(merged, "reduction"));
  return {};
}

}  // namespace rung::passes
