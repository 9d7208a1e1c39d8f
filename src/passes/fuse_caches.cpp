// Takes the heads of a projection to their attention in one op: it normalises and rotates queries and keys, and stores
// keys and values in their caches.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <optional>

#include "base/words.hpp"
#include "passes/head_norms.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"
#include "passes/rotated_columns.hpp"

namespace rung::passes {
namespace {

// A state that becomes scatter(state, places, rows).
struct Cache {
  NodeId next, state, places, rows;
};

// Finds the cache that a view of its next value shows, if nothing else reads either of its values.
std::optional<Cache> cache_behind(const Graph& graph, NodeId view) {
  if (!graph.as<Reshape>(view) || !graph.single_use(view)) return std::nullopt;
  const NodeId next = graph[view].operands[0];
  const auto* scatter = graph.as<Scatter>(next);
  if (!scatter || scatter->kind != ScatterKind::set || graph[next].users.size() != 1 || graph[next].output_uses != 1)
    return std::nullopt;
  const auto& operands = graph[next].operands;
  const auto* input = graph.as<Input>(operands[0]);
  const State* state = input ? graph.state_of(input->name) : nullptr;
  if (!state || !graph.single_use(operands[0]) || graph.shape(next).rank() != 3) return std::nullopt;
  for (const Output& output : graph.outputs())
    if (output.node == next && output.name == state->next) return Cache{next, operands[0], operands[1], operands[2]};
  return std::nullopt;
}

// Returns the value whose elements these are, in the same order, perhaps rounded on the way; kNoNode: someone else
// reads one of the values between.
NodeId source_of(const Graph& graph, NodeId id) {
  while (graph.as<Reshape>(id) || graph.as<Cast>(id)) {
    if (!graph.single_use(id)) return kNoNode;
    id = graph[id].operands[0];
  }
  return id;
}

// slice(base), along an axis counted from the last one, which nothing else reads
struct SlicedPart {
  NodeId base;
  int64_t begin, end;
};
std::optional<SlicedPart> part_of(const Graph& graph, NodeId id, int axis_from_last) {
  const NodeId source = source_of(graph, id);
  const auto* slice = source == kNoNode ? nullptr : graph.as<Slice>(source);
  if (!slice || slice->step != 1 || !graph.single_use(source)) return std::nullopt;
  if (axis_in(graph, source, slice->axis) != graph.shape(source).rank() - 1 - axis_from_last) return std::nullopt;
  return SlicedPart{graph[source].operands[0], slice->begin, slice->end};
}

bool is_read_twice(const Graph& graph, NodeId id) { return graph[id].users.size() == 2 && !graph.is_output(id); }

// The operands of the op that takes all of this to an attention.
struct CachedHeads {
  NodeId projection, rope;
  std::optional<RmsNorm> norm;
  NodeId norm_weight = kNoNode;
  Cache keys, values;
};

class CacheFuser {
 public:
  CacheFuser(Graph& graph, PassContext& context) : graph_(graph), context_(context) {}

  // attention(q of rope(norm(q and k of x)), scatter(keys, places, k of it), scatter(values, places, v of x))
  //   =>  attention(cache_heads(x, keys, values, places), its result 1, its result 2)
  //   x has the heads of queries, keys and values side by side, and nothing else; nobody else reads what is between, or
  //   the caches. The norm may be missing.
  bool fuse(NodeId attention) {
    const auto* op = graph_.as<Attention>(attention);
    if (!op || op->segments != 1) return false;
    const size_t first = op->first_key();
    const auto heads = heads_of(attention, first);
    if (!heads) return false;
    Insertion here(graph_, attention);
    const std::string label = graph_[heads->rope].label;
    CacheHeads made;
    if (heads->norm) made.eps = heads->norm->eps, made.weight_offset = heads->norm->weight_offset;
    const std::vector<NodeId> operands = operands_of(*heads);
    const bool taken = graph_.infer(made, operands) && context_.kernel_for(graph_, made, operands);
    if (!taken) {
      for (const size_t i : {CacheHeads::kCos, CacheHeads::kSin}) erase_unused(graph_, operands[i]);
      return false;
    }
    const NodeId q = graph_.add(made, operands, label);
    const NodeId keys = graph_.add(NthResult{1}, {q}, graph_[heads->keys.next].label);
    const NodeId values = graph_.add(NthResult{2}, {q}, graph_[heads->values.next].label);
    read_instead(attention, 0, q);
    read_instead(attention, first, keys);
    read_instead(attention, first + 1, values);
    replace_with(graph_, heads->keys.next, keys);
    replace_with(graph_, heads->values.next, values);
    return true;
  }

 private:
  std::optional<CachedHeads> heads_of(NodeId attention, size_t first) const {
    const auto& operands = graph_[attention].operands;
    const auto keys = cache_behind(graph_, operands[first]), values = cache_behind(graph_, operands[first + 1]);
    if (!keys || !values || keys->places != values->places) return std::nullopt;
    const auto q = part_of(graph_, operands[0], 1), k = part_of(graph_, keys->rows, 1);
    if (!q || !k || q->base != k->base || q->begin != 0 || q->end != k->begin) return std::nullopt;
    CachedHeads heads{.projection = kNoNode, .rope = q->base, .norm = {}, .keys = *keys, .values = *values};
    if (!graph_.as<Rope>(heads.rope) || !is_read_twice(graph_, heads.rope) || !has_angles(heads)) return std::nullopt;
    if (k->end != graph_.shape(heads.rope).back(1)) return std::nullopt;
    return with_projection(heads);
  }

  // Returns whether each row has angles of its own, the same for all heads.
  bool has_angles(const CachedHeads& heads) const {
    const int64_t rows = graph_.shape(heads.keys.places).product(), width = graph_.shape(heads.keys.state)[2];
    for (const size_t i : {1, 2}) {
      const Shape& angles = graph_.shape(graph_[heads.rope].operands[i]);
      if (angles.rank() < 1 || angles.back() != width || angles.product() != rows * width) return false;
    }
    return one_angle_for_all_heads(graph_, heads.rope);
  }

  // Adds what is between the rope and the projection, and the projection, if it has the values, too.
  std::optional<CachedHeads> with_projection(CachedHeads heads) const {
    NodeId turned = graph_[heads.rope].operands[0];
    if (const auto* region = graph_.as<Region>(turned)) {
      heads.norm = norm_of_heads(*region);
      if (!heads.norm || !graph_.single_use(turned)) return std::nullopt;
      heads.norm_weight = graph_[turned].operands[1];
      turned = graph_[turned].operands[0];
    }
    const auto columns = columns_of_heads(graph_, turned);
    const auto v = part_of(graph_, heads.values.rows, 0);
    if (!columns || !v || columns->base != v->base || columns->begin != 0 || columns->end != v->begin)
      return std::nullopt;
    if (!graph_.single_use(turned) || !graph_.single_use(columns->view) || !is_read_twice(graph_, v->base))
      return std::nullopt;
    if (v->end != graph_.shape(v->base).back()) return std::nullopt;
    heads.projection = v->base;
    return heads;
  }

  std::vector<NodeId> operands_of(const CachedHeads& heads) {
    const int64_t rows = graph_.shape(heads.keys.places).product(), width = graph_.shape(heads.keys.state)[2];
    const auto angles = [&](size_t i) {
      const NodeId all = graph_[heads.rope].operands[i];
      return reshaped(graph_, all, {rows, width}, graph_[all].label);
    };
    std::vector<NodeId> operands{heads.projection,  heads.keys.state, heads.values.state,
                                 heads.keys.places, angles(1),        angles(2)};
    if (heads.norm) operands.push_back(heads.norm_weight);
    return operands;
  }

  // Makes the attention read `value` in the shape of what it read there.
  void read_instead(NodeId attention, size_t i, NodeId value) {
    const NodeId old = graph_[attention].operands[i];
    graph_.set_operand(attention, i, reshaped(graph_, value, graph_.shape(old), graph_[old].label));
    erase_unused(graph_, old);
  }

  Graph& graph_;
  PassContext& context_;
};

}  // namespace

Status fuse_caches(Graph& graph, PassContext& context) {
  CacheFuser fuser(graph, context);
  size_t fused = 0;
  for_each_node(graph, [&](NodeId id) { fused += fuser.fuse(id); });
  if (fused)
    context.notes.add("{} to caches and attention in one op",
                      words::counted(fused, "projection goes", "projections go"));
  return {};
}

}  // namespace rung::passes
