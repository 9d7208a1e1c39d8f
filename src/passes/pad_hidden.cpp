// Pads the value between two linears with columns of zeros until its rows begin at cache lines: rows fetched in whole
// lines save more than the few extra columns cost.
// SPDX-License-Identifier: Apache-2.0
#include "base/words.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"

namespace rung::passes {
namespace {

constexpr int64_t kMostAdded = 32;  // at most one column in 32

class Padder {
 public:
  Padder(Graph& graph, PassContext& context) : graph_(graph), context_(context), constant_(constant_nodes(graph)) {}

  // linear(linear(x, w, b, activation), v)  =>  linear(linear(x, w over 0, b over 0, activation), v beside 0)
  // The inner linear has no other reader and no residual; every activation leaves zeros as they are.
  bool pad(NodeId outer) {
    if (!is_plain(outer)) return false;
    const NodeId inner = graph_[outer].operands[0];
    if (!is_plain(inner) || !graph_.single_use(inner) || graph_.as<Linear>(inner)->has(LinearSlot::residual))
      return false;
    const int64_t added = missing_columns(graph_.type(inner));
    if (added == 0 || added * kMostAdded > graph_.shape(inner).back()) return false;
    return pad(outer, inner, added);
  }

 private:
  bool is_plain(NodeId id) const {
    const auto* op = graph_.as<Linear>(id);
    if (!op || op->epilogue.gated || op->is_extended()) return false;
    const std::vector<NodeId>& operands = graph_[id].operands;
    const NodeId* bias = op->slots.find(operands, LinearSlot::bias);
    return is_constant(operands[1]) && (!bias || is_constant(*bias));
  }
  bool is_constant(NodeId id) const { return id < constant_.size() && constant_[id]; }

  int64_t missing_columns(const Type& type) const {
    const int64_t together = context_.row_bytes / static_cast<int64_t>(size_of(type.dtype));
    return together > 1 ? (together - type.shape.back() % together) % together : 0;
  }

  NodeId with_zeros(NodeId w, int axis, int64_t added) {
    Shape shape = graph_.shape(w);
    shape[axis] = added;
    Tensor zero({graph_.type(w).dtype, Shape{}});  // tensors begin as zeros
    NodeId zeros = graph_.add(Broadcast{shape}, {graph_.literal("zero", std::move(zero))}, "zeros");
    return graph_.add(Concat{axis}, {w, zeros}, graph_[w].label);
  }

  bool pad(NodeId outer, NodeId inner, int64_t added) {
    const NodeId padded = pad_rows(inner, added);
    if (padded == kNoNode) return false;
    Insertion here(graph_, outer);
    std::vector<NodeId> operands = graph_[outer].operands;
    operands[0] = padded, operands[1] = with_zeros(operands[1], 1, added);
    const Linear op = *graph_.as<Linear>(outer);
    return context_.kernel_for(graph_, op, operands) &&
           replace_with(graph_, outer, graph_.add(op, std::move(operands), graph_[outer].label));
  }
  // Adds the linear with `added` more rows of weights, and of bias; kNoNode if no kernel runs it.
  NodeId pad_rows(NodeId linear, int64_t added) {
    Insertion here(graph_, linear);
    const Linear op = *graph_.as<Linear>(linear);
    std::vector<NodeId> operands = graph_[linear].operands;
    operands[1] = with_zeros(operands[1], 0, added);
    if (NodeId* bias = op.slots.find(operands, LinearSlot::bias)) *bias = with_zeros(*bias, 0, added);
    return context_.kernel_for(graph_, op, operands) ? graph_.add(op, std::move(operands), graph_[linear].label)
                                                     : kNoNode;
  }

  Graph& graph_;
  PassContext& context_;
  std::vector<bool> constant_;
};

}  // namespace

Status pad_hidden(Graph& graph, PassContext& context) {
  if (context.row_bytes <= 1) return {};
  Padder padder(graph, context);
  size_t padded = 0;
  for_each_node(graph, [&](NodeId id) { padded += padder.pad(id); });
  if (padded)
    context.notes.add("rows of {} between linears begin at {} bytes", words::counted(padded, "value"),
                      context.row_bytes);
  return {};
}

}  // namespace rung::passes
