// Merges rotary embeddings of neighbouring heads of one projection into one: q and k.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <tuple>

#include "base/words.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"
#include "passes/rotated_columns.hpp"

namespace rung::passes {
namespace {

struct Rotated {
  NodeId id;
  RotatedColumns columns;
};

// Ropes that may join read the same value by the same angles, as heads of one length, in one precision.
using Key = std::tuple<NodeId, NodeId, NodeId, int64_t>;

class Joiner {
 public:
  Joiner(Graph& graph, PassContext& context) : graph_(graph), context_(context) {}

  // rope(a of x), rope(b of x), a and b side by side  =>  slices of rope(a and b of x)
  bool join(Rotated a, Rotated b) {
    Insertion here(graph_, a.id);
    if (b.columns.begin < a.columns.begin) std::swap(a, b);
    const auto [base, view, begin, middle] = a.columns;
    if (middle != b.columns.begin || !context_.same_precision(graph_, a.id, b.id)) return false;
    Shape shape = graph_.shape(a.id);
    int heads_axis = shape.rank() - 2;
    int64_t first = shape[heads_axis], size = shape.back();
    shape[heads_axis] = (b.columns.end - begin) / size;
    const std::string label = graph_[a.id].label;
    NodeId columns = graph_.add(Slice{graph_.shape(base).rank() - 1, begin, b.columns.end, 1}, {base}, label);
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
    if (!graph.as<Rope>(id) || !one_angle_for_all_heads(graph, id)) return;
    auto found = rotated_columns(graph, id);
    if (!found) return;
    Key key{found->base, graph[id].operands[1], graph[id].operands[2], graph.shape(id).back()};
    auto [it, added] = waiting.try_emplace(key, Rotated{id, *found});
    if (added) return;
    joined += joiner.join(it->second, {id, *found});
    waiting.erase(it);
  });
  if (joined) context.notes.add("{} of rotary embeddings became one", words::counted(joined, "pair"));
  return {};
}

}  // namespace rung::passes
