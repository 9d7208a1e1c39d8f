// Keeps channels last between convolutions: exported graphs put them behind the batch, so each convolution and pooling
// stands between two transposes. Transposes of results move towards their readers, where they meet and vanish; group
// norms get a form that reads channels where they are.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "base/words.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"

namespace rung::passes {
namespace {

// [B,R...,C] to [B,C,R...]
bool puts_channels_first(const Dims& permutation) {
  const int rank = permutation.rank();
  if (rank < 3 || permutation[0] != 0 || permutation[1] != rank - 1) return false;
  for (int axis = 2; axis < rank; ++axis)
    if (permutation[axis] != axis - 1) return false;
  return true;
}

class Mover {
 public:
  Mover(Graph& graph, PassContext& context)
      : graph_(graph), context_(context), is_constant_(constant_nodes(graph)), is_windowed_(graph.capacity(), false) {}

  bool move(NodeId id) {
    if (graph_.as<Conv>(id) || graph_.as<Pool>(id)) mark(id);
    if (graph_.as<NthResult>(id) && is_windowed(graph_[id].operands[0])) mark(id);
    return move_elementwise(id) || move_reduce(id) || move_along_axis(id) || move_group_norm(id) || move_flatten(id);
  }

 private:
  void mark(NodeId id) {
    is_windowed_.resize(std::max<size_t>(is_windowed_.size(), id + size_t{1}), false);
    is_windowed_[id] = true;
  }
  bool is_windowed(NodeId id) const { return id < is_windowed_.size() && is_windowed_[id]; }
  bool is_constant(NodeId id) const { return id < is_constant_.size() && is_constant_[id]; }

  // Returns the value with its channels last; kNoNode: the operand is no such value turned around. Matrices are turned
  // for other reasons too, so one must stem from a convolution.
  NodeId unturned(NodeId operand) const {
    const auto* turned = graph_.as<Transpose>(operand);
    if (!turned || !puts_channels_first(turned->permutation)) return kNoNode;
    const NodeId source = graph_[operand].operands[0];
    return graph_.shape(source).rank() > 3 || is_windowed(source) ? source : kNoNode;
  }

  static Dims channels_first(int rank) {
    Dims order{0, rank - 1};
    for (int axis = 1; axis < rank - 1; ++axis) order.push_back(axis);
    return order;
  }

  // Puts transpose(op(operands)) where `id` stood.
  bool put(NodeId id, Op op, std::vector<NodeId> operands) {
    Insertion here(graph_, id);
    const NodeId by = graph_.add(std::move(op), std::move(operands), graph_[id].label);
    mark(by);
    const NodeId turned = graph_.add(Transpose{channels_first(graph_.shape(by).rank())}, {by}, graph_[id].label);
    return replace_with(graph_, id, turned);
  }

  // Returns the operand of a result of that rank with its channels last.
  NodeId with_channels_last(NodeId operand, int rank) {
    if (const NodeId source = unturned(operand); source != kNoNode && graph_.shape(source).rank() == rank)
      return source;
    Shape shape = graph_.shape(operand);
    if (shape.rank() == 0) return operand;
    while (shape.rank() < rank) shape.insert(0, 1);
    const NodeId wide = reshaped(graph_, operand, shape, graph_[operand].label);
    return transposed(graph_, wide, inverse(channels_first(rank)), graph_[operand].label);
  }

  // Returns whether turning the operand costs nothing, or little beside what the op computes.
  bool is_light(NodeId operand, NodeId result) const {
    return unturned(operand) != kNoNode || is_constant(operand) ||
           graph_.type(operand).elements() * 16 <= graph_.type(result).elements();
  }

  // f(transpose(x), y)  =>  transpose(f(x, transpose(y)))      f works element by element, and y is small or constant,
  // or transposed as well
  bool move_elementwise(NodeId id) {
    if (!is_elementwise(graph_[id].op)) return false;
    const std::vector<NodeId> operands = graph_[id].operands;
    const auto is_turned = [&](NodeId operand) {
      return unturned(operand) != kNoNode && graph_.shape(operand) == graph_.shape(id);
    };
    if (std::ranges::none_of(operands, is_turned)) return false;
    if (!std::ranges::all_of(operands, [&](NodeId operand) { return is_light(operand, id); })) return false;
    Insertion here(graph_, id);
    std::vector<NodeId> moved;
    for (NodeId operand : operands) moved.push_back(with_channels_last(operand, graph_.shape(id).rank()));
    return put(id, graph_[id].op, std::move(moved));
  }

  // reduce(transpose(x), axis)  =>  transpose(reduce(x)), or reduce(x) where the channels go or stand alone
  bool move_reduce(NodeId id) {
    const auto* reduce = graph_.as<Reduce>(id);
    const NodeId source = reduce ? unturned(graph_[id].operands[0]) : kNoNode;
    if (source == kNoNode) return false;
    Reduce op = *reduce;
    const int rank = graph_.shape(source).rank(), axis = axis_in(graph_, graph_[id].operands[0], op.axis);
    op.axis = channels_first(rank)[axis];
    if (op.keep_dim || (rank > 3 && axis > 1)) return put(id, op, {source});
    if (axis == 0) return false;
    replace(graph_, id, op, {source});
    return true;
  }

  // concat, slice and gather of transposed values  =>  transpose of their concat, slice or gather
  bool move_along_axis(NodeId id) {
    Op op = graph_[id].op;
    const std::vector<NodeId> operands = graph_[id].operands;
    const bool is_concat = as<Concat>(op) != nullptr;
    if (!is_concat && !as<Slice>(op) && !as<Gather>(op)) return false;
    const NodeId first = unturned(operands[0]);
    const int rank = graph_.shape(id).rank();
    if (as<Gather>(op) && (graph_.shape(operands[1]).rank() != 1 || first == kNoNode)) return false;
    if (!is_concat && first == kNoNode) return false;
    if (is_concat && std::ranges::none_of(operands, [&](NodeId part) { return unturned(part) != kNoNode; }))
      return false;
    if (is_concat && !std::ranges::all_of(operands, [&](NodeId part) { return is_light(part, id); })) return false;
    int64_t* axis = axis_field(op);
    *axis = channels_first(rank)[axis_in(graph_, operands[0], *axis)];
    Insertion here(graph_, id);
    std::vector<NodeId> moved;
    for (size_t i = 0; i < operands.size(); ++i)
      moved.push_back(is_concat || i == 0 ? with_channels_last(operands[i], rank) : operands[i]);
    return put(id, std::move(op), std::move(moved));
  }

  // reshape(layer_norm(reshape(transpose(x)), 1, 0))  =>  transpose(group_norm(x))      rows are all places of runs of
  // channels; a kernel reads them apart
  bool move_group_norm(NodeId id) {
    const NodeId norm = graph_.as<Reshape>(id) ? graph_[id].operands[0] : id;
    const auto* op = graph_.as<LayerNorm>(norm);
    if (!op || op->has_residual() || (norm != id && !graph_.single_use(norm))) return false;
    if (uniform_value(graph_, graph_[norm].operands[1]) != 1 || uniform_value(graph_, graph_[norm].operands[2]) != 0)
      return false;
    const NodeId rows = graph_[norm].operands[0];
    const NodeId image = graph_.as<Reshape>(rows) ? graph_[rows].operands[0] : rows;
    const NodeId source = unturned(image);
    if (source == kNoNode || graph_.type(image) != graph_.type(id)) return false;
    const Shape &row = graph_.shape(rows), &x = graph_.shape(source);
    if (row.rank() != 3 || row[0] != x[0] || x.back() % row[1]) return false;
    const GroupNorm grouped{.groups = row[1], .eps = op->eps};
    return context_.kernel_for(graph_, grouped, std::array{source}) && put(id, grouped, {source});
  }

  // reshape(transpose(x)) to [B,C,R]  =>  transpose(reshape(x) to [B,R,C])      all places become one axis
  bool move_flatten(NodeId id) {
    const auto* reshape = graph_.as<Reshape>(id);
    const NodeId source = reshape ? unturned(graph_[id].operands[0]) : kNoNode;
    if (source == kNoNode || reshape->shape.rank() != 3) return false;
    const Shape& x = graph_.shape(source);
    if (reshape->shape[0] != x[0] || reshape->shape[1] != x.back()) return false;
    const Shape rows{x[0], reshape->shape[2], x.back()};
    return put(id, Reshape{rows}, {source});
  }

  Graph& graph_;
  PassContext& context_;
  std::vector<bool> is_constant_, is_windowed_;
};

// transpose(x)  =>  reshape(x)      channels change their place with axes of one element: x is one place, or one
// channel
bool turn_by_reshape(Graph& graph, NodeId id) {
  const auto* transpose = graph.as<Transpose>(id);
  if (!transpose || transpose->permutation.rank() < 4) return false;
  if (!puts_channels_first(transpose->permutation) && !puts_channels_first(inverse(transpose->permutation)))
    return false;
  const NodeId x = graph[id].operands[0];
  int64_t last = -1;
  for (int64_t axis : transpose->permutation) {
    if (graph.shape(x)[static_cast<int>(axis)] == 1) continue;
    if (axis < last) return false;
    last = axis;
  }
  Insertion here(graph, id);
  return replace_with(graph, id, reshaped(graph, x, graph.shape(id), graph[id].label));
}

}  // namespace

Status channels_last(Graph& graph, PassContext& context) {
  Mover mover(graph, context);
  size_t moved = 0;
  for_each_node(graph, [&](NodeId id) { moved += mover.move(id); });
  for_each_node(graph, [&](NodeId id) { turn_by_reshape(graph, id); });
  if (moved) context.notes.add("{} keep their channels last", words::counted(moved, "op", "ops"));
  return {};
}

}  // namespace rung::passes
