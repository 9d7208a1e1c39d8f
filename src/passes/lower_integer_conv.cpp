// Makes products of bytes of convolutions over dequantised bytes: windows of bytes stand side by side as rows.
// SPDX-License-Identifier: Apache-2.0
#include "base/words.hpp"
#include "passes/integer_convs.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"
#include "passes/window_lowering.hpp"

namespace rung::passes {
namespace {

constexpr int kMiddle = 128;  // u8 minus this is i8

class ConvLowering {
 public:
  ConvLowering(Graph& graph, PassContext& context)
      : graph_(graph), context_(context), constant_(constant_nodes(graph)) {}

  // conv(dequantised(q), dequantised(w), ...)  =>  linear(dequantised(rows of windows of q), dequantised(w), ...)
  // q has one scale and a known zero point, with which it is surrounded; one group; the device multiplies i8
  bool lower(NodeId id) {
    const auto* conv = graph_.as<Conv>(id);
    if (!conv || conv->is_of_integers() || conv->transposed || conv->groups != 1 || graph_.type(id).dtype != DType::f32)
      return false;
    const NodeId given = graph_[id].operands[1];
    const auto x = dequantised(graph_, graph_[id].operands[0]);
    const auto w = given < constant_.size() && constant_[given] ? dequantised_conv_weight(graph_, given) : std::nullopt;
    if (!x || !w || !has_kernel(id)) return false;
    const auto zero = x->integers.zero == kNoNode ? 0 : uniform_value(graph_, x->integers.zero);
    if (!zero) return false;
    Insertion here(graph_, id);
    const bool is_u8 = graph_.type(x->integers.values).dtype == DType::u8;
    const auto centre = static_cast<float>(*zero) - static_cast<float>(is_u8 ? kMiddle : 0);
    const NodeId bytes =
        with_views(graph_, is_u8 ? lowered(x->integers.values) : x->integers.values, x->integers.views);
    const WindowLowering windows(graph_, id, bytes, whole(DType::i8, centre));
    if (!windows.is_small(1, false)) return false;
    const NodeId known = centre == 0 ? kNoNode : whole(DType::f32, centre);
    const NodeId rows = widened(windows.rows(), known, x->scale);
    const NodeId matrix = windows.matrix(with_views(graph_, w->bytes, w->views));
    const NodeId weight = widened(matrix, of_rows(w->zero, matrix), of_rows(w->scale, matrix));
    const NodeId products = graph_.add(Linear{}, {rows, weight}, graph_[id].label);
    return finish_conv(graph_, id, activated(graph_, id, products));
  }

 private:
  // Asks about the product of bytes that recognise_integer_products makes of it.
  bool has_kernel(NodeId id) const {
    if (!context_.has_kernel) return true;
    const Shape& w = graph_.shape(graph_[id].operands[1]);
    const int64_t terms = w.product() / w[0], rows = graph_.type(id).elements() / w[0];
    Linear op;
    std::vector<Type> types{{DType::i8, {rows, terms}}, {DType::i8, {w[0], terms}}};
    op.slots.put(types, LinearSlot::bias, Type{DType::i32, {w[0]}});
    op.slots.put(types, LinearSlot::scale, Type{DType::f32, {w[0]}});
    return static_cast<bool>(context_.has_kernel(op, types));
  }

  NodeId whole(DType type, float value) {
    return graph_.literal("zero_point", convert(Tensor::of<float>({}, {value}), type));
  }

  // (cast(bytes) - zero) scale
  NodeId widened(NodeId bytes, NodeId zero, NodeId scale) {
    const std::string label = graph_[bytes].label;
    NodeId wide = graph_.add(Cast{DType::f32}, {bytes}, label);
    if (zero != kNoNode) wide = graph_.add(Binary{BinaryKind::sub}, {wide, zero}, label);
    return graph_.add(Binary{BinaryKind::mul}, {wide, scale}, label);
  }

  // One number, or numbers of a weight's rows, where they broadcast to a matrix of these; kNoNode stays.
  NodeId of_rows(NodeId numbers, NodeId matrix) {
    if (numbers == kNoNode) return kNoNode;
    const int64_t count = graph_.type(numbers).elements();
    return reshaped(graph_, numbers, count == 1 ? Shape{} : Shape{graph_.shape(matrix)[0], 1});
  }

  // u8 - 128, of which windows are then made: once for each byte, not for each window that sees it.
  NodeId lowered(NodeId values) {
    const std::string label = graph_[values].label;
    const NodeId wide = graph_.add(Cast{DType::f32}, {values}, label);
    return graph_.add(Cast{DType::i8}, {graph_.add(Binary{BinaryKind::sub}, {wide, whole(DType::f32, kMiddle)}, label)},
                      label);
  }

  Graph& graph_;
  PassContext& context_;
  std::vector<bool> constant_;
};

}  // namespace

Status lower_integer_conv(Graph& graph, PassContext& context) {
  ConvLowering lowering(graph, context);
  size_t lowered = 0;
  for_each_node(graph, [&](NodeId id) { lowered += lowering.lower(id); });
  if (lowered)
    context.notes.add("{} of bytes {} products of bytes", words::counted(lowered, "convolution", "convolutions"),
                      lowered == 1 ? "is" : "are");
  return {};
}

}  // namespace rung::passes
