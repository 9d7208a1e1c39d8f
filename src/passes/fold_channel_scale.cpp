// Folds factors and summands of channels, which are what a batch norm is in inference, into the convolution before
// them.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "base/words.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"
#include "reference/evaluate.hpp"

namespace rung::passes {
namespace {

// Products of weights and factors in f16 must stay within its numbers: those below 2^-14 lose digits, which only counts
// where the largest are not far above.
constexpr double kLeastLargest = 0x1p-9, kMostLargest = 65504;

class Folder {
 public:
  explicit Folder(Graph& graph) : graph_(graph), is_constant_(constant_nodes(graph)) {}

  // mul(conv(x, w, b), s)  =>  conv(x, w * s, b * s)      s is constant, one number for each channel; the conv is
  // plain, its weights are constant, and nothing else reads it. A conv in 16 bits may be cast to f32 in between, as
  // batch norms have it: the product is then cast. Its weights are rounded once more, its result once less.
  Result<bool> fold_factor(NodeId id) {
    const auto found = find(id, BinaryKind::mul);
    if (!found) return false;
    const NodeId w = graph_[found->conv].operands[1];
    RUNG_TRY(const bool fits, products_fit(w, found->numbers));
    if (!fits) return false;
    Insertion here(graph_, id);
    Shape rows = Dims::filled(graph_.shape(w).rank(), 1);
    rows[0] = graph_.shape(w)[0];
    Conv op = *graph_.as<Conv>(found->conv);
    std::vector<NodeId> operands = graph_[found->conv].operands;
    const NodeId factors = constant(reshaped(graph_, wide(found->numbers), {rows[0]}, graph_[id].label));
    const NodeId of_rows = constant(reshaped(graph_, factors, rows, graph_[id].label));
    operands[1] = constant(cast_to(graph_, combined(BinaryKind::mul, wide(w), of_rows), graph_.type(w).dtype));
    if (const NodeId* bias = op.slots.find(operands, ConvSlot::bias))
      op.slots.put(operands, ConvSlot::bias, combined(BinaryKind::mul, wide(*bias), factors));
    return put(id, op, std::move(operands));
  }

  // add(conv(x, w, b), c)  =>  conv(x, w, b + c)      c is constant, one number for each channel; the conv is plain,
  // its bias is constant or absent, and nothing else reads it. A conv in 16 bits may be cast to f32 in between where
  // the sum is rounded back, and by nothing else read.
  bool fold_summand(NodeId id) {
    const auto found = find(id, BinaryKind::add);
    if (!found || (graph_.type(id) != graph_.type(found->conv) && !is_rounded_to(id, graph_.type(found->conv))))
      return false;
    Insertion here(graph_, id);
    std::vector<NodeId> operands = graph_[found->conv].operands;
    Conv op = *graph_.as<Conv>(found->conv);
    const Shape channels{graph_.shape(found->conv).back()};
    NodeId bias = constant(reshaped(graph_, found->numbers, channels, graph_[id].label));
    if (const NodeId* before = op.slots.find(operands, ConvSlot::bias))
      bias = combined(BinaryKind::add, wide(*before), wide(bias));
    op.slots.put(operands, ConvSlot::bias, bias);
    return put(id, op, std::move(operands));
  }

 private:
  struct Found {
    NodeId conv, numbers;
  };

  std::optional<Found> find(NodeId id, BinaryKind kind) const {
    const auto* binary = graph_.as<Binary>(id);
    if (!binary || binary->kind != kind) return std::nullopt;
    for (size_t i : {size_t{0}, size_t{1}}) {
      const NodeId value = graph_[id].operands[i], numbers = graph_[id].operands[1 - i];
      if (!graph_.single_use(value) || !(graph_.type(value) == graph_.type(id))) continue;
      const NodeId conv = before_widening(value);
      const auto* op = graph_.as<Conv>(conv);
      if (!op || !op->is_plain() || !graph_.single_use(conv)) continue;
      if (!has_constant_weights(conv) || !is_of_channels(numbers, graph_.shape(conv).back())) continue;
      return Found{conv, numbers};
    }
    return std::nullopt;
  }

  // Returns what a cast to f32 reads, or the value itself.
  NodeId before_widening(NodeId value) const {
    return graph_.as<Cast>(value) && graph_.type(value).dtype == DType::f32 ? graph_[value].operands[0] : value;
  }
  // Returns whether a cast to the type is all that reads the value.
  bool is_rounded_to(NodeId id, const Type& type) const {
    return graph_.single_use(id) && graph_.as<Cast>(graph_[id].users[0]) && graph_.type(graph_[id].users[0]) == type;
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

  // Returns whether all products of the weights and the factors are numbers of the weights' type.
  Result<bool> products_fit(NodeId w, NodeId factors) const {
    if (graph_.type(w).dtype != DType::f16) return true;
    RUNG_TRY(const double weight, largest(w));
    RUNG_TRY(const double factor, largest(factors));
    return weight * factor >= kLeastLargest && weight * factor <= kMostLargest;
  }
  Result<double> largest(NodeId id) const {
    while (is_view(graph_[id].op)) id = graph_[id].operands[0];
    RUNG_TRY(const Tensor values, evaluate_constant(graph_, id));
    const Tensor numbers = convert(values, DType::f32);
    double most = 0;
    for (const float each : numbers.as<float>()) most = std::max(most, std::abs(static_cast<double>(each)));
    return most;
  }

  // Remembers that a new node is constant.
  NodeId constant(NodeId id) {
    is_constant_.resize(std::max<size_t>(is_constant_.size(), id + size_t{1}), false);
    is_constant_[id] = true;
    return id;
  }
  NodeId wide(NodeId id) { return constant(cast_to(graph_, id, DType::f32)); }
  NodeId combined(BinaryKind kind, NodeId a, NodeId b) {
    return constant(graph_.add(Binary{kind}, {a, b}, graph_[a].label));
  }
  // Puts the convolution where `old` stood, in its type.
  bool put(NodeId old, const Conv& op, std::vector<NodeId> operands) {
    const NodeId conv = graph_.add(op, std::move(operands), graph_[old].label);
    return replace_with(graph_, old, cast_to(graph_, conv, graph_.type(old).dtype));
  }

  Graph& graph_;
  std::vector<bool> is_constant_;
};

}  // namespace

Status fold_channel_scale(Graph& graph, PassContext& context) {
  Folder folder(graph);
  size_t folded = 0;
  for (NodeId id : graph.order()) {
    if (!graph[id].alive) continue;
    RUNG_TRY(const bool has_factor, folder.fold_factor(id));
    folded += has_factor || folder.fold_summand(id);
  }
  if (folded)
    context.notes.add("{} of channels folded into a convolution",
                      words::counted(folded, "factor or summand", "factors and summands"));
  return {};
}

}  // namespace rung::passes
