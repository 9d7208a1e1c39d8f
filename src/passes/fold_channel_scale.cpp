// Folds factors and summands of channels, which are what a batch norm is in inference, into the convolution before
// them.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/words.hpp"
#include "passes/conv_parts.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"

namespace rung::passes {
namespace {

class ScaleFolder {
 public:
  ScaleFolder(Graph& graph, PassContext& context)
      : graph_(graph), context_(context), is_constant_(constant_nodes(graph)) {}

  bool fold(NodeId id) { return fold_factor(id) || fold_summand(id) || fold_wide_factor(id) || fold_wide_summand(id); }

 private:
  // mul(conv(x, w, b), s)  =>  conv(x, w * s, b * s)      s is constant, one number for each channel; the conv is
  // plain, its weights are constant, and nothing else reads it
  bool fold_factor(NodeId id) {
    const auto found = find(id, BinaryKind::mul);
    if (!found || found->widened || scales_channels(graph_, found->conv)) return false;
    Insertion here(graph_, id);
    std::vector<NodeId> operands = graph_[found->conv].operands;
    Shape rows = Dims::filled(graph_.shape(operands[1]).rank(), 1);
    rows[0] = graph_.shape(operands[1])[0];
    const Conv op = *graph_.as<Conv>(found->conv);
    const NodeId factors = of_channels(found->numbers, rows[0]);
    operands[1] = combined(BinaryKind::mul, operands[1], view(factors, rows));
    if (op.has(ConvSlot::bias)) operands[2] = combined(BinaryKind::mul, operands[2], factors);
    replace(graph_, id, op, std::move(operands));
    return true;
  }

  // add(conv(x, w, b), c)  =>  conv(x, w, b + c)      c is constant, one number for each channel; the conv is plain,
  // its bias is constant or absent, and nothing else reads it
  bool fold_summand(NodeId id) {
    const auto found = find(id, BinaryKind::add);
    if (!found || found->widened || scales_channels(graph_, found->conv)) return false;
    Insertion here(graph_, id);
    std::vector<NodeId> operands = graph_[found->conv].operands;
    Conv op = *graph_.as<Conv>(found->conv);
    NodeId bias = of_channels(found->numbers, graph_.shape(found->conv).back());
    if (op.has(ConvSlot::bias)) bias = combined(BinaryKind::add, operands[2], bias);
    op.slots.put(operands, ConvSlot::bias, bias);
    replace(graph_, id, op, std::move(operands));
    return true;
  }

  // mul(cast(conv(x, w, b)), s)  =>  cast(conv(x, w, [s, b * s]))      as above, in 16 bits and with a product in f32,
  // which is what importers make of a batch norm. Weights in 16 bits would be rounded once more, for all results of a
  // channel alike, and means over places would keep that error. A kernel takes factors, or what phases become does.
  bool fold_wide_factor(NodeId id) {
    const auto found = find(id, BinaryKind::mul);
    if (!found || !found->widened) return false;
    Insertion here(graph_, id);
    Ends ends = ends_of(found->conv);
    const NodeId factors = row(of_channels(found->numbers, graph_.shape(found->conv).back()));
    ends.factors = ends.factors == kNoNode ? factors : combined(BinaryKind::mul, ends.factors, factors);
    if (ends.summands != kNoNode) ends.summands = combined(BinaryKind::mul, ends.summands, factors);
    return put_wide(id, found->conv, ends);
  }

  // add(cast(conv(x, w, b)), c)  =>  cast(conv(x, w, b + c))      as above; the sum is rounded back, and nothing else
  // reads it
  bool fold_wide_summand(NodeId id) {
    const auto found = find(id, BinaryKind::add);
    if (!found || !found->widened || !is_rounded_to(id, graph_.type(found->conv))) return false;
    Insertion here(graph_, id);
    Ends ends = ends_of(found->conv);
    const NodeId summands = row(of_channels(found->numbers, graph_.shape(found->conv).back()));
    ends.summands = ends.summands == kNoNode ? summands : combined(BinaryKind::add, ends.summands, summands);
    return put_wide(id, found->conv, ends);
  }

  struct Found {
    NodeId conv, numbers;
    bool widened;  // the conv is in 16 bits, and a cast to f32 stands behind it
  };

  std::optional<Found> find(NodeId id, BinaryKind kind) const {
    const auto* binary = graph_.as<Binary>(id);
    if (!binary || binary->kind != kind) return std::nullopt;
    for (size_t i : {size_t{0}, size_t{1}}) {
      const NodeId value = graph_[id].operands[i], numbers = graph_[id].operands[1 - i];
      if (!graph_.single_use(value) || !(graph_.type(value) == graph_.type(id))) continue;
      const bool is_wide = graph_.as<Cast>(value) && graph_.type(value).dtype == DType::f32;
      const NodeId conv = is_wide ? graph_[value].operands[0] : value;
      const auto* op = graph_.as<Conv>(conv);
      if (!op || !op->is_plain() || !graph_.single_use(conv)) continue;
      if (!has_constant_weights(conv) || !are_of_channels(numbers, graph_.shape(conv).back())) continue;
      return Found{conv, numbers, is_wide};
    }
    return std::nullopt;
  }

  // Returns whether a cast to the type is all that reads the value.
  bool is_rounded_to(NodeId id, const Type& type) const {
    const auto is_cast = [&](NodeId user) { return graph_.as<Cast>(user) && graph_.type(user) == type; };
    return graph_.single_use(id) && std::ranges::any_of(graph_[id].users, is_cast);
  }
  bool has_constant_weights(NodeId conv) const {
    const std::vector<NodeId>& operands = graph_[conv].operands;
    return std::all_of(operands.begin() + 1, operands.end(), [&](NodeId operand) { return is_constant(operand); });
  }
  // Returns whether there is one for each channel, or one for all of them.
  bool are_of_channels(NodeId numbers, int64_t channels) const {
    const Shape& shape = graph_.shape(numbers);
    const bool one_each = shape.rank() > 0 && shape.back() == channels && shape.product() == channels;
    return is_constant(numbers) && (one_each || shape.product() == 1);
  }
  bool is_constant(NodeId id) const { return id < is_constant_.size() && is_constant_[id]; }

  // The rows [1,O] in f32 that stand behind a conv's products; kNoNode: none.
  struct Ends {
    NodeId factors = kNoNode, summands = kNoNode;
  };
  Ends ends_of(NodeId conv) {
    const NodeId* bias = graph_.as<Conv>(conv)->slots.find(graph_[conv].operands, ConvSlot::bias);
    if (!bias) return {};
    if (!scales_channels(graph_, conv)) return {kNoNode, row(*bias)};
    const auto part = [&](int64_t at) { return constant(graph_.add(Slice{0, at, at + 1, 1}, {*bias})); };
    return {part(0), part(1)};
  }

  // Puts the conv with these ends, cast to f32, where `old` stood, if a kernel runs it.
  bool put_wide(NodeId old, NodeId conv, const Ends& ends) {
    Conv op = *graph_.as<Conv>(conv);
    std::vector<NodeId> operands = graph_[conv].operands;
    NodeId bias = ends.summands;
    if (ends.factors != kNoNode) {
      const auto zeros = [&] { return graph_.literal("zeros", Tensor(graph_.type(ends.factors))); };
      bias = graph_.add(Concat{0}, {ends.factors, bias == kNoNode ? zeros() : bias}, graph_[old].label);
    }
    op.slots.put(operands, ConvSlot::bias,
                 constant(ends.factors == kNoNode ? view(bias, {graph_.shape(conv).back()}) : bias));
    if (!op.transposed && !context_.kernel_for(graph_, op, operands)) return false;
    const NodeId by = graph_.add(op, std::move(operands), graph_[old].label);
    return replace_with(graph_, old, cast_to(graph_, by, DType::f32));
  }

  // Remembers that a new node is constant.
  NodeId constant(NodeId id) {
    is_constant_.resize(std::max<size_t>(is_constant_.size(), id + size_t{1}), false);
    is_constant_[id] = true;
    return id;
  }
  NodeId view(NodeId numbers, const Shape& shape) {
    return constant(reshaped(graph_, numbers, shape, graph_[numbers].label));
  }
  NodeId of_channels(NodeId numbers, int64_t channels) {
    if (graph_.shape(numbers).product() == channels) return view(numbers, {channels});
    return constant(graph_.add(Broadcast{{channels}}, {view(numbers, {})}, graph_[numbers].label));
  }
  NodeId wide(NodeId id) { return constant(cast_to(graph_, id, DType::f32)); }
  NodeId row(NodeId numbers) { return view(wide(numbers), {1, graph_.type(numbers).elements()}); }
  // Computes in the type of both, or else in f32.
  NodeId combined(BinaryKind kind, NodeId a, NodeId b) {
    if (graph_.type(a).dtype != graph_.type(b).dtype) a = wide(a), b = wide(b);
    return constant(graph_.add(Binary{kind}, {a, b}, graph_[a].label));
  }

  Graph& graph_;
  PassContext& context_;
  std::vector<bool> is_constant_;
};

}  // namespace

Status fold_channel_scale(Graph& graph, PassContext& context) {
  ScaleFolder folder(graph, context);
  size_t folded = 0;
  for_each_node(graph, [&](NodeId id) { folded += folder.fold(id); });
  if (folded)
    context.notes.add("{} of channels folded into a convolution",
                      words::counted(folded, "factor or summand", "factors and summands"));
  return {};
}

}  // namespace rung::passes
