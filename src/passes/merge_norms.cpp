// Merges RMS norms of neighbouring heads of one product into one kernel: those of q and k.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <map>
#include <tuple>

#include "base/words.hpp"
#include "passes/head_norms.hpp"
#include "passes/move_before.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"
#include "passes/rotated_columns.hpp"

namespace rung::passes {
namespace {

// Norms that may join are of the same value, of heads of one length, and differ in their weights alone.
using NormKey = std::tuple<NodeId, int64_t, float, float, DType>;

struct NormedHeads {
  NodeId id;
  RotatedColumns columns;
};

class NormJoiner {
 public:
  NormJoiner(Graph& graph, PassContext& context) : graph_(graph), context_(context) {}

  // rms_norm(a of x, w), rms_norm(b of x, u), a and b side by side  =>  slices of region(a and b of x, w and u by head)
  //   The weights do not depend on the first norm.
  bool join(NormedHeads a, NormedHeads b) {
    const NodeId first = a.id;
    if (b.columns.begin < a.columns.begin) std::swap(a, b);
    if (a.columns.end != b.columns.begin || !context_.same_precision(graph_, a.id, b.id)) return false;
    const NodeId heads = heads_before(first, a, b), weights = weights_behind(b, a);
    const Region region = region_of_heads(*graph_.as<RmsNorm>(a.id));
    std::array<NodeId, 1> moved{weights};
    if (!context_.kernel_for(graph_, region, std::array{heads, weights}) || !move_before(graph_, first, moved))
      return erase_unused(graph_, heads), erase_unused(graph_, weights), false;
    Insertion here(graph_, first);
    const NodeId all = graph_.add(region, {heads, moved[0]}, graph_[a.id].label);
    const int axis = graph_.shape(all).rank() - 2;
    const int64_t middle = graph_.shape(a.id)[axis], end = graph_.shape(all)[axis];
    const NodeId lower = graph_.add(Slice{axis, 0, middle, 1}, {all}, graph_[a.id].label),
                 upper = graph_.add(Slice{axis, middle, end, 1}, {all}, graph_[b.id].label);
    replace_with(graph_, a.id, lower);
    replace_with(graph_, b.id, upper);
    return true;
  }

 private:
  NodeId heads_before(NodeId place, const NormedHeads& a, const NormedHeads& b) {
    Insertion here(graph_, place);
    const NodeId base = a.columns.base;
    Shape shape = graph_.shape(a.id);
    shape[shape.rank() - 2] += graph_.shape(b.id).back(1);
    const NodeId columns =
        graph_.add(Slice{graph_.shape(base).rank() - 1, a.columns.begin, b.columns.end, 1}, {base}, graph_[a.id].label);
    return graph_.add(Reshape{shape}, {columns}, graph_[a.id].label);
  }

  // The weights of each head, [heads of a and b, size], behind both norms, where all that they need stands.
  NodeId weights_behind(const NormedHeads& b, const NormedHeads& a) {
    const auto of_heads = [&](NodeId norm) {
      const NodeId weight = graph_[norm].operands[1];
      return graph_.add(Broadcast{{graph_.shape(norm).back(1), graph_.shape(norm).back()}}, {weight},
                        graph_[weight].label);
    };
    Insertion here(graph_, kNoNode);
    return graph_.add(Concat{0}, {of_heads(a.id), of_heads(b.id)}, graph_[a.id].label);
  }

  Graph& graph_;
  PassContext& context_;
};

}  // namespace

Status merge_norms(Graph& graph, PassContext& context) {
  NormJoiner joiner(graph, context);
  std::map<NormKey, NormedHeads> waiting;
  size_t joined = 0;
  for_each_node(graph, [&](NodeId id) {
    const auto* norm = graph.as<RmsNorm>(id);
    const auto columns = norm ? columns_of_heads(graph, graph[id].operands[0]) : std::nullopt;
    if (!columns) return;
    const NormKey key{columns->base, graph.shape(id).back(), norm->eps, norm->weight_offset, norm->out};
    const auto [it, added] = waiting.try_emplace(key, NormedHeads{id, *columns});
    if (added) return;
    joined += joiner.join(it->second, {id, *columns});
    waiting.erase(it);
  });
  if (joined) context.notes.add("{} of norms of heads became one", words::counted(joined, "pair"));
  return {};
}

}  // namespace rung::passes
