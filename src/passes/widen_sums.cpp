// Keeps residual sums and all other values that no product reads in f32: values are rounded where a product needs it,
// and where the author says so by a cast.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/words.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"

namespace rung::passes {
namespace {

// Returns the op with a result in f32, if the op states its result's type; else the type follows from the operands.
Op with_wide_result(Op op) {
  if (DType* out = result_dtype(op)) *out = DType::f32;
  return op;
}

class Widener {
 public:
  Widener(Graph& graph, PassContext& context) : graph_(graph), context_(context), wide_(graph.capacity()) {
    std::vector<bool> constant = constant_nodes(graph);
    for (NodeId id : graph.order())
      wide_[id] = is_narrow(graph.type(id).dtype) && !constant[id] && !graph.is_output(id) && !graph.as<Input>(id) &&
                  !is_read_by_product(id) && !is_authors_rounding(id);
  }

  size_t run() {
    settle();
    std::vector<NodeId> order = graph_.order();
    values_.resize(graph_.capacity());
    for (NodeId id : order) rewrite(id);
    return static_cast<size_t>(std::count_if(order.begin(), order.end(), [&](NodeId id) { return wide_[id]; }));
  }

 private:
  // Returns whether a product reads the value: products run at the speed of their operands' type, so these stay narrow.
  bool is_read_by_product(NodeId id) const {
    for (NodeId user : graph_[id].users) {
      const Semantics semantics = semantics_of(graph_, user);
      for (size_t i = 0; i < graph_[user].operands.size(); ++i)
        if (graph_[user].operands[i] == id && semantics.operands[i].is_product()) return true;
    }
    return false;
  }

  // Returns whether a cast is the author's: where no precision was asked for, no pass has made one.
  bool is_authors_rounding(NodeId id) const {
    return graph_.as<Cast>(id) && graph_.type(graph_[id].operands[0]).dtype == DType::f32 &&
           precision_at(context_.precision, graph_[id].label).values == DType::f32;
  }

  // Finds the largest set of wide values that every op and some kernel accept: narrows values until no node objects.
  void settle() {
    std::vector<NodeId> pending = graph_.order();
    while (!pending.empty()) {
      NodeId id = pending.back();
      pending.pop_back();
      if (agrees(id)) continue;
      std::vector<NodeId> narrowed;
      if (wide_[id])
        narrowed = {id};
      else
        narrowed = graph_[id].operands;
      for (NodeId value : narrowed) {
        if (!wide_[value]) continue;
        wide_[value] = false;
        pending.push_back(value);
        pending.insert(pending.end(), graph_[value].users.begin(), graph_[value].users.end());
      }
    }
  }

  bool agrees(NodeId id) const {
    const Node& node = graph_[id];
    bool reads_wide = std::any_of(node.operands.begin(), node.operands.end(), [&](NodeId o) { return wide_[o]; });
    if (!wide_[id] && !reads_wide) return true;
    Op op = wide_[id] ? with_wide_result(node.op) : node.op;
    std::vector<Type> types;
    for (NodeId operand : node.operands)
      types.push_back({wide_[operand] ? DType::f32 : graph_.type(operand).dtype, graph_.shape(operand)});
    auto type = infer_type(op, types);
    if (!type || type->dtype != (wide_[id] ? DType::f32 : node.type.dtype)) return false;
    return !context_.has_kernel || context_.has_kernel(op, types);
  }

  void rewrite(NodeId id) {
    values_[id] = id;
    const Node& node = graph_[id];
    std::vector<NodeId> operands;
    for (NodeId operand : node.operands) operands.push_back(values_[operand]);
    bool stays_f32 = as<Cast>(node.op) && graph_.type(operands[0]).dtype == DType::f32 &&
                     (wide_[id] || node.type.dtype == DType::f32);
    if (stays_f32) {
      values_[id] = operands[0];
      if (graph_.is_output(id)) replace_with(graph_, id, operands[0]);
    } else if (wide_[id]) {
      Insertion here(graph_, id);
      values_[id] = graph_.add(with_wide_result(node.op), std::move(operands), node.label);
    } else {
      for (size_t i = 0; i < operands.size(); ++i)
        if (operands[i] != graph_[id].operands[i]) graph_.set_operand(id, i, operands[i]);
    }
  }

  Graph& graph_;
  PassContext& context_;
  std::vector<bool> wide_;      // by node: f32 from now on
  std::vector<NodeId> values_;  // the value that took the node's place
};

}  // namespace

Status widen_sums(Graph& graph, PassContext& context) {
  size_t widened = Widener(graph, context).run();
  if (widened)
    context.notes.add("{} kept in f32",
                      words::counted(widened, "value that no product reads is", "values that no product reads are"));
  return {};
}

}  // namespace rung::passes
