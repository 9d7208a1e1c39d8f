// Folds factors and summands of channels, which are what a batch norm is in inference, into the convolution before
// them.
// SPDX-License-Identifier: Apache-2.0
#include "base/words.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"

namespace rung::passes {
namespace {

class Folder {
 public:
  explicit Folder(Graph& graph) : graph_(graph), is_constant_(constant_nodes(graph)) {}

  // mul(conv(x, w, b), s)  =>  conv(x, w * s, b * s)      s is constant, one number for each channel; the conv is
  // plain, its weights are constant, and nothing else reads it
  bool fold_factor(NodeId id) {
    const auto found = find(id, BinaryKind::mul);
    if (!found) return false;
    Insertion here(graph_, id);
    std::vector<NodeId> operands = graph_[found->conv].operands;
    Shape rows = Dims::filled(graph_.shape(operands[1]).rank(), 1);
    rows[0] = graph_.shape(operands[1])[0];
    const Conv op = *graph_.as<Conv>(found->conv);
    const NodeId factors = reshaped(graph_, found->numbers, {rows[0]}, graph_[id].label);
    operands[1] = product(operands[1], reshaped(graph_, factors, rows, graph_[id].label));
    if (op.has(ConvSlot::bias)) operands[2] = product(operands[2], factors);
    replace(graph_, id, op, std::move(operands));
    return true;
  }

  // add(conv(x, w, b), c)  =>  conv(x, w, b + c)      c is constant, one number for each channel; the conv is plain,
  // its bias is constant or absent, and nothing else reads it
  bool fold_summand(NodeId id) {
    const auto found = find(id, BinaryKind::add);
    if (!found) return false;
    Insertion here(graph_, id);
    std::vector<NodeId> operands = graph_[found->conv].operands;
    Conv op = *graph_.as<Conv>(found->conv);
    NodeId bias = reshaped(graph_, found->numbers, {graph_.shape(found->conv).back()}, graph_[id].label);
    if (op.has(ConvSlot::bias)) bias = constant(graph_.add(Binary{BinaryKind::add}, {operands[2], bias}));
    op.slots.put(operands, ConvSlot::bias, bias);
    replace(graph_, id, op, std::move(operands));
    return true;
  }

 private:
  struct Found {
    NodeId conv, numbers;
  };

  std::optional<Found> find(NodeId id, BinaryKind kind) const {
    const auto* binary = graph_.as<Binary>(id);
    if (!binary || binary->kind != kind) return std::nullopt;
    for (size_t i : {size_t{0}, size_t{1}}) {
      const NodeId conv = graph_[id].operands[i], numbers = graph_[id].operands[1 - i];
      const auto* op = graph_.as<Conv>(conv);
      if (!op || !op->is_plain() || !graph_.single_use(conv) || !(graph_.type(conv) == graph_.type(id))) continue;
      if (!has_constant_weights(conv) || !is_of_channels(numbers, graph_.shape(conv).back())) continue;
      return Found{conv, numbers};
    }
    return std::nullopt;
  }

  bool has_constant_weights(NodeId conv) const {
    const std::vector<NodeId>& operands = graph_[conv].operands;
    return std::all_of(operands.begin() + 1, operands.end(), [&](NodeId operand) { return is_constant(operand); });
  }
  bool is_of_channels(NodeId numbers, int64_t channels) const {
    const Shape& shape = graph_.shape(numbers);
    return is_constant(numbers) && shape.rank() > 0 && shape.back() == channels && shape.product() == channels;
  }
  bool is_constant(NodeId id) const { return id < is_constant_.size() && is_constant_[id]; }
  // Remembers that a new node is constant.
  NodeId constant(NodeId id) {
    is_constant_.resize(std::max<size_t>(is_constant_.size(), id + size_t{1}), false);
    is_constant_[id] = true;
    return id;
  }
  NodeId product(NodeId a, NodeId b) { return constant(graph_.add(Binary{BinaryKind::mul}, {a, b}, graph_[a].label)); }

  Graph& graph_;
  std::vector<bool> is_constant_;
};

}  // namespace

Status fold_channel_scale(Graph& graph, PassContext& context) {
  Folder folder(graph);
  size_t folded = 0;
  for_each_node(graph, [&](NodeId id) { folded += folder.fold_factor(id) || folder.fold_summand(id); });
  if (folded)
    context.notes.add("{} of channels folded into a convolution",
                      words::counted(folded, "factor or summand", "factors and summands"));
  return {};
}

}  // namespace rung::passes
