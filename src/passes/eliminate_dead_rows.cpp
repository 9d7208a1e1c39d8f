// Computes only the rows that reach an output: rows that a constant mask hides, such as a missing camera or padding,
// are skipped together with the work that led to them.
// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <tuple>

#include "base/words.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"
#include "passes/row_demand.hpp"

namespace rung::passes {
namespace {

class Shrinker {
 public:
  explicit Shrinker(Graph& graph) : graph_(graph), demand_(graph), shrunk_(graph.capacity(), kNoNode) {}

  // f(x) of which only some rows are read  =>  f(those rows of x)      f works on each row apart, or other rows weigh 0
  size_t run() {
    std::vector<NodeId> order = graph_.order();
    bool any = std::any_of(order.begin(), order.end(),
                           [&](NodeId id) { return is_computed(id) && !demand_.of(id)->is_all(); });
    if (!any) return 0;
    size_t count = 0;
    for (NodeId id : order) {
      if (!demand_.of(id)) continue;
      shrunk_[id] = id;
      if (!is_computed(id)) continue;
      count += !demand_.of(id)->is_all();
      shrunk_[id] = rebuild(id);
    }
    for (const Output& output : std::vector<Output>(graph_.outputs()))
      if (shrunk_[output.node] != output.node) graph_.set_output(output.name, shrunk_[output.node]);
    return count;
  }

  // The value of fewer rows does the work of the whole one, not the op that reads the rows.
  void name_heirs() {
    graph_.erase_dead();
    for (NodeId id = 0; id < shrunk_.size(); ++id)
      if (shrunk_[id] != kNoNode && shrunk_[id] != id && !graph_[id].alive) graph_.set_heir(id, shrunk_[id]);
  }

  void tell(Notes& notes) {
    std::map<std::pair<int64_t, int64_t>, size_t> keys;
    for (NodeId id : graph_.order()) {
      const auto* softmax = id < shrunk_.size() && demand_.of(id) ? graph_.as<Softmax>(id) : nullptr;
      if (!softmax) continue;
      int axis = axis_in(graph_, id, softmax->axis);
      int64_t all = graph_.shape(id)[axis], kept = demand_.sets.count((*demand_.of(id))[axis], all);
      if (kept < all) ++keys[{kept, all}];
    }
    for (auto [sizes, times] : keys)
      notes.add("{} {} of {} keys: the others are masked", words::counted(times, "attention reads", "attentions read"),
                sizes.first, sizes.second);
    for (NodeId id : graph_.inputs()) tell_input(id, notes);
  }

 private:
  bool is_computed(NodeId id) const { return demand_.of(id) && !graph_.as<Input>(id) && !graph_.is_constant(id); }

  NodeId rebuild(NodeId id) {
    const Demand& demand = *demand_.of(id);
    auto reads = demand_.reads(id);
    const std::vector<NodeId> sources = graph_[id].operands;
    Insertion here(graph_, id);
    if (demand_.is_selection(id))
      return demand.is_all() && has_all_rows(sources[0]) ? id : rows_of(sources[0], *reads[0]);
    std::vector<NodeId> operands;
    for (size_t i = 0; i < sources.size(); ++i)
      if (reads[i]) operands.push_back(rows_of(sources[i], *reads[i]));
    if (demand.is_all()) {
      for (size_t i = 0; i < operands.size(); ++i)
        if (operands[i] != sources[i]) graph_.set_operand(id, i, operands[i]);
      return id;
    }
    if (graph_.as<Concat>(id) && operands.size() == 1) return operands[0];
    return graph_.add(resized(id, demand), std::move(operands), graph_[id].label);
  }

  bool has_all_rows(NodeId x) const { return shrunk_[x] == x && (!is_computed(x) || demand_.of(x)->is_all()); }

  // Returns the op with the sizes of its target shape reduced to the demand.
  Op resized(NodeId id, const Demand& demand) {
    Op op = graph_[id].op;
    auto resize = [&](Shape& shape) {
      for (int axis = 0; axis < shape.rank(); ++axis) shape[axis] = demand_.sets.count(demand[axis], shape[axis]);
    };
    if (auto* reshape = std::get_if<Reshape>(&op)) resize(reshape->shape);
    if (auto* broadcast = std::get_if<Broadcast>(&op)) resize(broadcast->shape);
    return op;
  }

  // Selects the wanted rows of `x`, all of which are present.
  NodeId rows_of(NodeId x, const Demand& wanted) {
    NodeId value = shrunk_[x];
    Demand present = is_computed(x) ? *demand_.of(x) : Demand{};
    for (int axis = 0; axis < graph_.shape(x).rank(); ++axis)
      if (wanted[axis] != present[axis]) value = select(value, axis, positions(present[axis], wanted[axis]));
    return value;
  }

  // Returns the positions of the wanted rows among the present ones.
  std::vector<int64_t> positions(RowSet present, RowSet wanted) const {
    const std::vector<int64_t>& rows = demand_.sets.rows(wanted);
    if (present == kAllRows) return rows;
    const std::vector<int64_t>& all = demand_.sets.rows(present);
    std::vector<int64_t> found;
    for (int64_t row : rows) found.push_back(std::lower_bound(all.begin(), all.end(), row) - all.begin());
    return found;
  }

  NodeId select(NodeId x, int axis, std::vector<int64_t> rows) {
    auto [it, is_new] = selected_.try_emplace({x, axis, rows}, kNoNode);
    if (!is_new) return it->second;
    Insertion after(graph_, graph_[x].next);
    const std::string label = graph_[x].label;
    if (is_contiguous(rows)) return it->second = graph_.add(Slice{axis, rows.front(), rows.back() + 1, 1}, {x}, label);
    auto size = static_cast<int64_t>(rows.size());
    NodeId indices = graph_.literal("rows", Tensor::of<int64_t>({size}, rows));
    return it->second = graph_.add(Gather{axis}, {x, indices}, label);
  }

  void tell_input(NodeId id, Notes& notes) {
    const std::string& name = graph_.as<Input>(id)->name;
    const auto& wanted = demand_.wanted(id);
    if (!wanted) {
      notes.add("input '{}' is not read", name);
      return;
    }
    for (int axis = 0; axis < graph_.shape(id).rank(); ++axis)
      if ((*wanted)[axis] != kAllRows)
        notes.add("of input '{}', {} of {} along axis {} are read", name, demand_.sets.rows((*wanted)[axis]).size(),
                  graph_.shape(id)[axis], axis);
  }

  Graph& graph_;
  RowDemand demand_;
  std::vector<NodeId> shrunk_;
  std::map<std::tuple<NodeId, int, std::vector<int64_t>>, NodeId> selected_;
};

}  // namespace

Status eliminate_dead_rows(Graph& graph, PassContext& context) {
  Shrinker shrinker(graph);
  if (size_t count = shrinker.run()) {
    shrinker.tell(context.notes);
    context.notes.add("{} computed for fewer rows", words::counted(count, "value is", "values are"));
    shrinker.name_heirs();
  }
  return {};
}

}  // namespace rung::passes
