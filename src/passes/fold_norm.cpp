// Moves RMS norms between linears into them: the first linear leaves scaled sums and squares, its readers apply these.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "base/words.hpp"
#include "passes/constant_copy.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"

namespace rung::passes {
namespace {

// The lengths of runs that a device may use: the columns of a small tile, of one warp, or of several.
constexpr int64_t kRuns[] = {8, 32, 64, 128};

// The norms of a sum that can go: they are all alike, and only linears read them, as x. `readers` maps each of these
// linears to the norm, or rows of it, that it reads.
struct Normed {
  NodeId norm = kNoNode;  // one of them
  std::map<NodeId, NodeId> readers;
};
// A new form of a linear, and the values that it will read in place of a norm.
struct Change {
  NodeId linear;
  Linear op;
  NodeId x, squares;
};

class NormFolder {
 public:
  NormFolder(Graph& graph, PassContext& context) : graph_(graph), context_(context), constant_(constant_nodes(graph)) {}

  size_t run() {
    size_t folded = 0;
    for (NodeId id = graph_.first(); id != kNoNode; id = graph_[id].next)
      if (NodeId by = fold(id); by != kNoNode) id = by, ++folded;
    return folded;
  }

 private:
  // s = linear(x), linear(rms_norm(s, g), w)  =>  s = linear(x, norm_weight=g), linear(s's scaled, w, s's squares)
  // s is f32, the norm is rounded to bf16 and has a constant weight, only linears read it, and each new linear has a
  // kernel. Other readers of s stay. Returns the node that took the place of s.
  NodeId fold(NodeId id) {
    Normed normed;
    if (!may_feed_norm(id)) return kNoNode;
    collect_norms(id, normed);
    if (normed.readers.empty()) return kNoNode;
    Insertion here(graph_, id);
    for (int64_t run : kRuns)
      if (NodeId by = fold(id, normed, run); by != kNoNode) return by;
    return kNoNode;
  }
  // Folds with the squares of `run` columns together, if kernels take them.
  NodeId fold(NodeId id, const Normed& normed, int64_t run) {
    Linear op = *graph_.as<Linear>(id);
    std::vector<NodeId> operands = graph_[id].operands;
    op.slots.put(operands, LinearSlot::norm_weight, weight_of(normed.norm));
    op.epilogue.norm_run = run;
    if (graph_.shape(operands[1])[0] % run || !context_.kernel_for(graph_, op, operands)) return kNoNode;
    NodeId by = graph_.add(op, std::move(operands), graph_[id].label);
    scaled_ = {{id, graph_.add(NthResult{1}, {by}, graph_[normed.norm].label)}};
    squares_ = {{id, graph_.add(NthResult{2}, {by}, graph_[normed.norm].label)}};
    std::vector<Change> changes;
    for (const auto& [linear, rows] : normed.readers) {
      changes.push_back(change(linear, rows, graph_.as<RmsNorm>(normed.norm)->eps));
      if (!context_.kernel_for(graph_, changes.back().op, operands_of(changes.back()))) return kNoNode;
    }
    replace_with(graph_, id, by);
    for (const Change& each : changes) replace(graph_, each.linear, each.op, operands_of(each));
    return by;
  }

  bool may_feed_norm(NodeId id) const {
    const auto* op = graph_.as<Linear>(id);
    return op && !op->epilogue.gated && !op->has(LinearSlot::cos) && !op->has(LinearSlot::norm_weight) &&
           graph_.type(id).dtype == DType::f32;
  }

  // Collects the norms of `sum` and of its rows.
  void collect_norms(NodeId sum, Normed& normed) const {
    for (NodeId user : graph_[sum].users) {
      if (slices_rows(user)) collect_norms(user, normed);
      if (!is_norm(user, sum, normed.norm)) continue;
      Normed more{user, normed.readers};
      if (collect_readers(user, more.readers)) normed = std::move(more);
    }
  }
  bool slices_rows(NodeId id) const {
    const auto* slice = graph_.as<Slice>(id);
    return slice && axis_in(graph_, id, slice->axis) != graph_.shape(id).rank() - 1;
  }
  // Returns whether the node is a norm of `x` that can go, and is like `other` if there is one.
  bool is_norm(NodeId id, NodeId x, NodeId other) const {
    const auto* op = graph_.as<RmsNorm>(id);
    if (!op || graph_[id].operands[0] != x || op->out != DType::bf16) return false;
    const NodeId weight = graph_[id].operands[1];
    if (weight >= constant_.size() || !constant_[weight]) return false;
    return other == kNoNode || (graph_[other].operands[1] == weight && *graph_.as<RmsNorm>(other) == *op);
  }
  // Collects the linears that read the norm `value` or rows of it; false if other ops read it, too, or not as x.
  bool collect_readers(NodeId value, std::map<NodeId, NodeId>& readers) const {
    if (graph_.is_output(value)) return false;
    const auto& users = graph_[value].users;
    return std::all_of(users.begin(), users.end(), [&](NodeId user) {
      if (slices_rows(user)) return collect_readers(user, readers);
      readers[user] = value;
      return reads_as_x(user, value);
    });
  }
  bool reads_as_x(NodeId id, NodeId value) const {
    const auto* op = graph_.as<Linear>(id);
    if (!op || op->has(LinearSlot::squares)) return false;
    const auto& operands = graph_[id].operands;
    return operands[0] == value && std::count(operands.begin(), operands.end(), value) == 1;
  }

  // Returns the norm's column factors in f32, copied to before the sum, wherever the author declared them.
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

  // The rows of a further result of a norm's sum, by the rows of the norm whose place they take.
  using ResultRows = std::map<NodeId, NodeId>;
  NodeId rows_of(ResultRows& result, NodeId value) {
    if (auto it = result.find(value); it != result.end()) return it->second;
    NodeId rows = rows_of(result, graph_[value].operands[0]);
    if (const auto* slice = graph_.as<Slice>(value)) rows = graph_.add(Slice(*slice), {rows}, graph_[value].label);
    return result[value] = rows;
  }
  Change change(NodeId linear, NodeId value, float eps) {
    Change made{linear, *graph_.as<Linear>(linear), rows_of(scaled_, value), rows_of(squares_, value)};
    made.op.slots.add(LinearSlot::squares), made.op.prologue.eps = eps;
    return made;
  }
  // Returns the operands of the changed linear, which are valid only until a linear that it reads is replaced.
  std::vector<NodeId> operands_of(const Change& change) const {
    std::vector<NodeId> operands = graph_[change.linear].operands;
    Linear op = *graph_.as<Linear>(change.linear);
    op.slots.put(operands, LinearSlot::x, change.x), op.slots.put(operands, LinearSlot::squares, change.squares);
    return operands;
  }

  Graph& graph_;
  PassContext& context_;
  std::vector<bool> constant_;
  std::map<std::pair<NodeId, float>, NodeId> scales_;
  std::map<NodeId, NodeId> copies_;
  ResultRows scaled_, squares_;  // of the sum being folded; keys: rows of the norm
};

}  // namespace

Status fold_norm(Graph& graph, PassContext& context) {
  size_t folded = NormFolder(graph, context).run();
  if (folded) context.notes.add("the norms of {} moved into the linears around them", words::counted(folded, "sum"));
  return {};
}

}  // namespace rung::passes
