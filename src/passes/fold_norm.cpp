// RMS norms between linears move into those: one leaves all that a norm of its result needs, the others apply it.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "ir/norm_row.hpp"
#include "passes/constant_copy.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"

namespace rung::passes {
namespace {

// The values that a linear reads: a norm of the sum as x, the sum as residual, either through slices of rows.
struct Reads {
  NodeId x = kNoNode, residual = kNoNode;
};
// Everything that reads a sum: linears, some of them behind norms that are all alike.
struct Readers {
  NodeId norm = kNoNode;  // one of them
  std::map<NodeId, Reads> linears;
};
// A linear to be, and what it will read in place of what it reads now.
struct Change {
  NodeId linear;
  Linear op;
  NodeId x = kNoNode, residual = kNoNode, squares = kNoNode;
};

class Folder {
 public:
  Folder(Graph& graph, PassContext& context) : graph_(graph), context_(context), constant_(constant_nodes(graph)) {}

  size_t run() {
    size_t folded = 0;
    for (NodeId id = graph_.first(); id != kNoNode; id = graph_[id].next)
      if (NodeId by = fold(id); by != kNoNode) id = by, ++folded;
    return folded;
  }

 private:
  // s = linear(x), linear(rms_norm(s, g), w), linear(y, v, residual=s)
  //   =>  s = linear(x, norm_weight=g), linear(s's scaled, w, s's squares), linear(y, v, residual=s, split)
  // s is f32, and nothing else reads it or its norms, which have one constant weight; a kernel takes each new linear.
  // Returns what took its place.
  NodeId fold(NodeId id) {
    Readers readers;
    if (!may_feed_norm(id) || !collect(id, false, readers) || readers.norm == kNoNode) return kNoNode;
    Insertion here(graph_, id);
    Linear op = *graph_.as<Linear>(id);
    std::vector<NodeId> operands = graph_[id].operands;
    op.out = DType::bf16;
    op.put(operands, LinearSlot::norm_weight, weight_of(readers.norm));
    if (!context_.kernel_for(graph_, op, operands)) return kNoNode;
    rows_ = {{id, graph_.add(op, std::move(operands), graph_[id].label)}};
    NodeId by = rows_[id];
    std::vector<Change> changes;
    for (const auto& [linear, reads] : readers.linears) {
      changes.push_back(change(linear, reads, graph_.as<RmsNorm>(readers.norm)->eps));
      if (!context_.kernel_for(graph_, changes.back().op, operands_of(changes.back()))) return kNoNode;
    }
    for (const Change& each : changes) replace(graph_, each.linear, each.op, operands_of(each));
    return by;
  }

  bool may_feed_norm(NodeId id) const {
    const auto* op = graph_.as<Linear>(id);
    return op && !op->gated && !op->has(LinearSlot::cos) && !op->has(LinearSlot::norm_weight) &&
           graph_.type(id).dtype == DType::f32 && graph_.shape(id).back() % kNormRun == 0;
  }

  // What reads `value`, which is the sum or its norm, or rows of either; false if that cannot be told of all.
  bool collect(NodeId value, bool is_norm, Readers& readers) const {
    if (graph_.is_output(value)) return false;
    const auto& users = graph_[value].users;
    return std::all_of(users.begin(), users.end(), [&](NodeId user) {
      if (slices_rows(user)) return collect(user, is_norm, readers);
      if (!is_norm && graph_.as<RmsNorm>(user)) return add_norm(user, readers) && collect(user, true, readers);
      return add_linear(user, value, is_norm, readers);
    });
  }
  bool slices_rows(NodeId id) const {
    const auto* slice = graph_.as<Slice>(id);
    return slice && axis_in(graph_, id, slice->axis) != graph_.shape(id).rank() - 1;
  }
  bool add_norm(NodeId id, Readers& readers) const {
    NodeId weight = graph_[id].operands[1];
    if (graph_.type(id).dtype != DType::bf16 || weight >= constant_.size() || !constant_[weight]) return false;
    if (readers.norm == kNoNode) readers.norm = id;
    return graph_[readers.norm].operands[1] == weight && *graph_.as<RmsNorm>(readers.norm) == *graph_.as<RmsNorm>(id);
  }
  bool add_linear(NodeId id, NodeId value, bool is_norm, Readers& readers) const {
    const auto* op = graph_.as<Linear>(id);
    if (!op || (is_norm ? op->has(LinearSlot::squares) : op->split_residual)) return false;
    const auto& operands = graph_[id].operands;
    const NodeId* read = op->find(operands, is_norm ? LinearSlot::x : LinearSlot::residual);
    for (const NodeId& each : operands)
      if (each == value && &each != read) return false;
    (is_norm ? readers.linears[id].x : readers.linears[id].residual) = value;
    return true;
  }

  // The norm's factors of columns, in f32; before the sum, wherever its author declares them.
  NodeId weight_of(NodeId norm) {
    const float offset = graph_.as<RmsNorm>(norm)->weight_offset;
    auto [it, is_new] = scales_.try_emplace({graph_[norm].operands[1], offset}, kNoNode);
    if (!is_new) return it->second;
    NodeId weight = copy_constant(graph_, graph_[norm].operands[1], copies_);
    it->second = cast_to(graph_, weight, DType::f32);
    if (offset == 0) return it->second;
    NodeId added = graph_.literal("weight_offset", Tensor::of<float>({}, {offset}));
    return it->second = graph_.add(Binary{BinaryKind::add}, {it->second, added}, graph_[weight].label);
  }

  // Of what was a value of the sum or of its norm, columns of the rows that take its place.
  NodeId columns(NodeId value, int64_t begin, int64_t end) {
    NodeId rows = rows_of(value);
    return graph_.add(Slice{graph_.shape(rows).rank() - 1, begin, end, 1}, {rows}, graph_[value].label);
  }
  NodeId rows_of(NodeId value) {
    if (auto it = rows_.find(value); it != rows_.end()) return it->second;
    NodeId rows = rows_of(graph_[value].operands[0]);
    if (const auto* slice = graph_.as<Slice>(value)) rows = graph_.add(Slice(*slice), {rows}, graph_[value].label);
    return rows_[value] = rows;
  }
  Change change(NodeId linear, const Reads& reads, float eps) {
    Change made{linear, *graph_.as<Linear>(linear)};
    if (reads.residual != kNoNode) {
      const int64_t n = graph_.shape(reads.residual).back();
      made.residual = columns(reads.residual, n, 3 * n);
      made.op.split_residual = true;
    }
    if (reads.x != kNoNode) {
      const int64_t n = graph_.shape(reads.x).back();
      made.x = columns(reads.x, 0, n), made.squares = columns(reads.x, 3 * n, norm_row(n));
      made.op.slots.add(LinearSlot::squares), made.op.eps = eps;
    }
    return made;
  }
  // One linear that reads the sum may read another, so this holds until either is replaced.
  std::vector<NodeId> operands_of(const Change& change) const {
    std::vector<NodeId> operands = graph_[change.linear].operands;
    Linear op = *graph_.as<Linear>(change.linear);
    if (change.residual != kNoNode) op.put(operands, LinearSlot::residual, change.residual);
    if (change.x != kNoNode)
      op.put(operands, LinearSlot::x, change.x), op.put(operands, LinearSlot::squares, change.squares);
    return operands;
  }

  Graph& graph_;
  PassContext& context_;
  std::vector<bool> constant_;
  std::map<std::pair<NodeId, float>, NodeId> scales_;
  std::map<NodeId, NodeId> copies_;
  std::map<NodeId, NodeId> rows_;  // of the sum in hand: by the value that they are rows of
};

}  // namespace

Status fold_norm(Graph& graph, PassContext& context) {
  size_t folded = Folder(graph, context).run();
  if (folded) context.notes.add("the norms of {} sums moved into the linears around them", folded);
  return {};
}

}  // namespace rung::passes
