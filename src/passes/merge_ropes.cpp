// Rotary embeddings of neighbouring heads of one projection run as one: q and k.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <tuple>

#include "passes/passes.hpp"
#include "passes/rewrite.hpp"

namespace rung::passes {
namespace {

// A rope over reshape(slice(base, last axis), [..., H, D]).
struct Rotated {
  NodeId id, base;
  int64_t begin, end;  // columns of base
};

// Ropes that may join read the same value by the same angles, as heads of one length.
using Key = std::tuple<NodeId, NodeId, NodeId, int64_t>;

std::optional<Rotated> rotated_slice(const Graph& graph, NodeId id) {
  NodeId heads = graph[id].operands[0];
  if (!graph.as<Reshape>(heads)) return std::nullopt;
  NodeId columns = graph[heads].operands[0];
  const auto* slice = graph.as<Slice>(columns);
  if (!slice || slice->step != 1) return std::nullopt;
  const Shape &shape = graph.shape(heads), &rows = graph.shape(columns);
  bool whole_rows = axis_in(graph, columns, slice->axis) == rows.rank() - 1 && shape.rank() == rows.rank() + 1 &&
                    shape.back() * shape.back(1) == rows.back();
  for (int i = 0; whole_rows && i + 1 < rows.rank(); ++i) whole_rows = shape[i] == rows[i];
  if (!whole_rows) return std::nullopt;
  return Rotated{id, graph[columns].operands[0], slice->begin, slice->end};
}

// The angles must be one for all heads: cos and sin of shape [..., 1, D].
bool same_for_all_heads(const Graph& graph, NodeId id) {
  for (size_t i : {1, 2}) {
    const Shape& angles = graph.shape(graph[id].operands[i]);
    if (angles.rank() >= 2 && angles.back(1) != 1) return false;
  }
  return true;
}

class Joiner {
 public:
  Joiner(Graph& graph, PassContext& context) : graph_(graph), context_(context) {}

  // rope(a of x), rope(b of x), a and b side by side  =>  slices of rope(a and b of x)
  bool join(Rotated a, Rotated b) {
    Insertion here(graph_, a.id);
    if (b.begin < a.begin) std::swap(a, b);
    if (a.end != b.begin) return false;
    Shape shape = graph_.shape(a.id);
    int heads_axis = shape.rank() - 2;
    int64_t first = shape[heads_axis], size = shape.back();
    shape[heads_axis] = (b.end - a.begin) / size;
    const std::string label = graph_[a.id].label;
    NodeId columns = graph_.add(Slice{graph_.shape(a.base).rank() - 1, a.begin, b.end, 1}, {a.base}, label);
    NodeId heads = graph_.add(Reshape{shape}, {columns}, label);
    std::vector<NodeId> operands{heads, graph_[a.id].operands[1], graph_[a.id].operands[2]};
    if (!context_.kernel_for(graph_, Rope{}, operands)) return erase_unused(graph_, heads), false;
    NodeId all = graph_.add(Rope{}, std::move(operands), label);
    NodeId lower = graph_.add(Slice{heads_axis, 0, first, 1}, {all}, label);
    NodeId upper = graph_.add(Slice{heads_axis, first, shape[heads_axis], 1}, {all}, graph_[b.id].label);
    replace_with(graph_, a.id, lower);
    replace_with(graph_, b.id, upper);
    return true;
  }

 private:
  Graph& graph_;
  PassContext& context_;
};

}  // namespace

Status merge_ropes(Graph& graph, PassContext& context) {
  Joiner joiner(graph, context);
  std::map<Key, Rotated> waiting;
  size_t joined = 0;
  for_each_node(graph, [&](NodeId id) {
    if (!graph.as<Rope>(id) || !same_for_all_heads(graph, id)) return;
    auto found = rotated_slice(graph, id);
    if (!found) return;
    Key key{found->base, graph[id].operands[1], graph[id].operands[2], graph.shape(id).back()};
    auto [it, added] = waiting.try_emplace(key, *found);
    if (added) return;
    joined += joiner.join(it->second, *found);
    waiting.erase(it);
  });
  if (joined) context.notes.add("{} pairs of rotary embeddings became one", joined);
  return {};
}

}  // namespace rung::passes
