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
  RotatedColumns part;  // columns of a product, or heads of a value that has them apart
  bool apart;
};

// Ropes that may join read the same value by the same angles, as heads of one length, in one precision.
using Key = std::tuple<NodeId, NodeId, NodeId, int64_t, bool>;

// Finds the heads of a rope over slice(base, axis of the heads).
std::optional<RotatedColumns> rotated_heads(const Graph& graph, NodeId rope) {
  const NodeId heads = graph[rope].operands[0];
  const auto* slice = graph.as<Slice>(heads);
  const int axis = graph.shape(heads).rank() - 2;
  if (!slice || axis < 0 || slice->step != 1 || axis_in(graph, heads, slice->axis) != axis) return std::nullopt;
  return RotatedColumns{graph[heads].operands[0], heads, slice->begin, slice->end};
}

std::optional<Rotated> rotated(const Graph& graph, NodeId rope) {
  if (const auto columns = rotated_columns(graph, rope)) return Rotated{rope, *columns, false};
  if (const auto heads = rotated_heads(graph, rope)) return Rotated{rope, *heads, true};
  return std::nullopt;
}

class Joiner {
 public:
  Joiner(Graph& graph, PassContext& context) : graph_(graph), context_(context) {}

  // rope(a of x), rope(b of x), a and b side by side  =>  slices of rope(a and b of x)
  bool join(Rotated a, Rotated b) {
    Insertion here(graph_, a.id);
    if (b.part.begin < a.part.begin) std::swap(a, b);
    if (a.part.end != b.part.begin || !context_.same_precision(graph_, a.id, b.id)) return false;
    const std::string label = graph_[a.id].label;
    const NodeId heads = both(a, b);
    std::vector<NodeId> operands{heads, graph_[a.id].operands[1], graph_[a.id].operands[2]};
    if (!context_.kernel_for(graph_, Rope{}, operands)) return erase_unused(graph_, heads), false;
    NodeId all = graph_.add(Rope{}, std::move(operands), label);
    const int axis = graph_.shape(all).rank() - 2;
    const int64_t middle = graph_.shape(a.id)[axis], end = graph_.shape(all)[axis];
    NodeId lower = graph_.add(Slice{axis, 0, middle, 1}, {all}, label);
    NodeId upper = graph_.add(Slice{axis, middle, end, 1}, {all}, graph_[b.id].label);
    replace_with(graph_, a.id, lower);
    replace_with(graph_, b.id, upper);
    return true;
  }

 private:
  // Returns the heads of both.
  NodeId both(const Rotated& a, const Rotated& b) {
    const std::string label = graph_[a.id].label;
    const NodeId base = a.part.base;
    const int axis = graph_.shape(base).rank() - (a.apart ? 2 : 1);
    if (a.apart && a.part.begin == 0 && b.part.end == graph_.shape(base)[axis]) return base;
    const NodeId part = graph_.add(Slice{axis, a.part.begin, b.part.end, 1}, {base}, label);
    if (a.apart) return part;
    Shape shape = graph_.shape(a.id);
    shape[shape.rank() - 2] += graph_.shape(b.id).back(1);
    return graph_.add(Reshape{shape}, {part}, label);
  }

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
    auto found = rotated(graph, id);
    if (!found) return;
    Key key{found->part.base, graph[id].operands[1], graph[id].operands[2], graph.shape(id).back(), found->apart};
    auto [it, added] = waiting.try_emplace(key, *found);
    if (added) return;
    joined += joiner.join(it->second, *found);
    waiting.erase(it);
  });
  if (joined) context.notes.add("{} of rotary embeddings became one", words::counted(joined, "pair"));
  return {};
}

}  // namespace rung::passes
