// Makes convolutions of integers of those of dequantised bytes, and has them round their results to bytes.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "base/words.hpp"
#include "passes/byte_rounding.hpp"
#include "passes/conv_parts.hpp"
#include "passes/integer_convs.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"
#include "reference/evaluate.hpp"

namespace rung::passes {
namespace {

// Returns one number for each row, of one or as many; none: they are not known.
std::optional<std::vector<double>> numbers_of_rows(const Graph& graph, NodeId id, int64_t rows) {
  const auto value = evaluate_constant(graph, id);
  if (!value || (value->elements() != 1 && value->elements() != rows)) return std::nullopt;
  const Tensor wide = convert(*value, DType::f32);
  const auto numbers = wide.as<float>();
  std::vector<double> made(numbers.begin(), numbers.end());
  if (made.size() == 1) made.resize(static_cast<size_t>(rows), made[0]);
  return made;
}

// Returns whether f32 has the number, with all its digits.
bool is_normal(double number) {
  const double size = std::abs(number);
  return size >= std::numeric_limits<float>::min() && size <= std::numeric_limits<float>::max();
}

Tensor f32_of(const std::vector<double>& numbers) {
  Tensor made({DType::f32, {static_cast<int64_t>(numbers.size())}});
  std::ranges::transform(numbers, made.as<float>().begin(), [](double number) { return static_cast<float>(number); });
  return made;
}

// Returns summands of sums of integers: as i32 where they are whole numbers but for the rounding of f32, as quantisers
// make them.
Tensor bias_of(const std::vector<double>& numbers) {
  constexpr double kRounding = 0x1p-22, kMost = 0x1p+30;
  const auto is_whole = [&](double number) {
    return std::abs(number) < kMost && std::abs(number - std::nearbyint(number)) <= kRounding * std::abs(number);
  };
  if (!std::ranges::all_of(numbers, is_whole)) return f32_of(numbers);
  Tensor made({DType::i32, {static_cast<int64_t>(numbers.size())}});
  std::ranges::transform(numbers, made.as<int32_t>().begin(),
                         [](double number) { return static_cast<int32_t>(std::nearbyint(number)); });
  return made;
}

class ConvFormer {
 public:
  ConvFormer(Graph& graph, PassContext& context) : graph_(graph), context_(context), constant_(constant_nodes(graph)) {}

  // conv(dequantised(q), dequantised(w), b)  =>  conv(q, w', b / s, scale = s, zero = z_q)      s = s_q s_w and b are
  // known, and so is z_q; w' is w's bytes less their zero points; the conv is plain
  bool form(NodeId id) {
    const auto* conv = graph_.as<Conv>(id);
    if (!conv || !conv->is_plain() || conv->transposed || graph_.type(id).dtype != DType::f32) return false;
    const std::vector<NodeId> given = graph_[id].operands;
    const auto x = dequantised(graph_, given[0]);
    const auto w = is_constant(given[1]) ? dequantised_conv_weight(graph_, given[1]) : std::nullopt;
    if (!x || !w) return false;
    const int64_t rows = graph_.shape(given[1])[0];
    const auto zero = x->integers.zero == kNoNode ? 0 : uniform_value(graph_, x->integers.zero);
    const auto x_scale = uniform_value(graph_, x->scale);
    auto scale = numbers_of_rows(graph_, w->scale, rows);
    if (!zero || !x_scale || !scale) return false;
    for (double& each : *scale) each *= *x_scale;
    if (!std::ranges::all_of(*scale, is_normal)) return false;
    Conv op = *conv;
    op.zero = static_cast<int64_t>(*zero);
    std::vector<NodeId> operands{kNoNode, kNoNode};
    Insertion here(graph_, id);
    const std::string label = graph_[id].label;
    if (const NodeId* of_sums = conv->slots.find(given, ConvSlot::bias)) {
      auto bias = scales_channels(graph_, id) ? std::nullopt : numbers_of_rows(graph_, *of_sums, rows);
      if (!bias) return false;
      for (size_t row = 0; row < bias->size(); ++row) (*bias)[row] /= (*scale)[row];
      operands.push_back(graph_.literal(label, bias_of(*bias)));
    }
    op.slots.put(operands, ConvSlot::scale, graph_.literal(label, f32_of(*scale)));
    operands[0] = with_views(graph_, x->integers.values, x->integers.views);
    operands[1] = with_views(graph_, integers_of(*w), w->views);
    return replace_if_kernel(graph_, context_, id, op, std::move(operands));
  }

  // mul(cast(sum), f)  =>  conv(q, w, b, scale = f, zero = z_q)      the sum is that of products of integers of a
  // convolution, in i32, with a known bias; f is known, and one number or one for each channel
  bool form_of_sum(NodeId id) {
    if (!is_binary(graph_, id, BinaryKind::mul) || graph_.type(id).dtype != DType::f32) return false;
    const NodeId sum = graph_[id].operands[0], factor = graph_[id].operands[1];
    if (!graph_.as<Cast>(sum) || graph_.type(sum).shape != graph_.type(id).shape) return false;
    const auto found = summed_conv(graph_, graph_[sum].operands[0], constant_);
    if (!found) return false;
    const int64_t rows = graph_.shape(id).back();
    const Shape& shape = graph_.shape(factor);
    const auto scale =
        shape.product() == 1 || shape.back() == rows ? numbers_of_rows(graph_, factor, rows) : std::nullopt;
    if (!scale || !std::ranges::all_of(*scale, is_normal)) return false;
    Insertion here(graph_, id);
    const std::string label = graph_[id].label;
    const int last = graph_.shape(found->weights[0]).rank() - 1;
    const NodeId w = found->weights.size() == 1 ? found->weights[0] : graph_.add(Concat{last}, found->weights, label);
    std::vector<NodeId> operands{with_views(graph_, found->x.values, found->x.views),
                                 graph_.add(Cast{DType::i8}, {w}, label)};
    Conv op = found->op;
    if (found->bias != kNoNode) op.slots.put(operands, ConvSlot::bias, reshaped(graph_, found->bias, {rows}, label));
    op.slots.put(operands, ConvSlot::scale, graph_.literal(label, f32_of(*scale)));
    return replace_if_kernel(graph_, context_, id, op, std::move(operands));
  }

  // round(limited(conv(q, w, scale = s)) / t) + z, as bytes  =>  conv(q, w, scale = s / t, out_zero = z, out = bytes)
  // the limits are those of the bytes, or relu
  bool round(NodeId id) {
    const auto rounding = byte_rounding(graph_, id);
    if (!rounding) return false;
    double step = 1;
    NodeId value = rounding->value;
    if (is_binary(graph_, value, BinaryKind::div)) {
      const auto divisor = uniform_value(graph_, graph_[value].operands[1]);
      value = graph_[value].operands[0];
      if (!divisor || *divisor <= 0 || !graph_.single_use(value)) return false;
      step = *divisor;
    }
    const auto limited = limited_value(graph_, value);
    const auto* conv = limited ? graph_.as<Conv>(limited->value) : nullptr;
    if (!conv || !conv->is_of_integers() || conv->out || conv->activation != Activation::none ||
        conv->has(ConvSlot::residual))
      return false;
    Conv op = *conv;
    op.out = graph_.as<Cast>(id)->to, op.out_zero = rounding->zero;
    if (!take_limits(op, *limited, step)) return false;
    std::vector<NodeId> operands = graph_[limited->value].operands;
    const NodeId of_sums = *op.slots.find(operands, ConvSlot::scale);
    const int64_t rows = graph_.shape(of_sums)[0];
    auto scale = numbers_of_rows(graph_, of_sums, rows);
    if (!scale) return false;
    for (double& each : *scale) each /= step;
    if (!std::ranges::all_of(*scale, is_normal)) return false;
    Insertion here(graph_, id);
    op.slots.put(operands, ConvSlot::scale, graph_.literal(graph_[id].label, f32_of(*scale)));
    return replace_if_kernel(graph_, context_, id, op, std::move(operands));
  }

 private:
  bool is_constant(NodeId id) const { return id < constant_.size() && constant_[id]; }

  // Returns the bytes less their zero points, as i8.
  NodeId integers_of(const ConvWeight& w) {
    const bool is_i8 = graph_.type(w.bytes).dtype == DType::i8;
    if (is_i8 && (w.zero == kNoNode || uniform_value(graph_, w.zero) == 0)) return w.bytes;
    const std::string label = graph_[w.bytes].label;
    NodeId wide = graph_.add(Cast{DType::f32}, {w.bytes}, label);
    if (w.zero != kNoNode) wide = graph_.add(Binary{BinaryKind::sub}, {wide, w.zero}, label);
    return graph_.add(Cast{DType::i8}, {wide}, label);
  }

  // Limits of floats are those of their bytes, as rounding keeps the order of numbers. Returns whether the op has them.
  static bool take_limits(Conv& op, const Limited& limited, double step) {
    const double least = op.out == DType::i8 ? -128 : 0, most = least + 255;
    const auto zero = static_cast<double>(op.out_zero);
    if (std::nearbyint(limited.high / step) + zero < most) return false;
    if (std::nearbyint(limited.low / step) + zero <= least) return true;
    op.activation = Activation::relu;
    return limited.low == 0;
  }

  Graph& graph_;
  PassContext& context_;
  std::vector<bool> constant_;
};

}  // namespace

Status recognise_integer_convs(Graph& graph, PassContext& context) {
  ConvFormer former(graph, context);
  size_t formed = 0, rounded = 0;
  for_each_node(graph, [&](NodeId id) { formed += former.form(id) || former.form_of_sum(id); });
  for_each_node(graph, [&](NodeId id) { rounded += former.round(id); });
  if (formed)
    context.notes.add("{} {} integers, {} of which round to bytes",
                      words::counted(formed, "convolution", "convolutions"), formed == 1 ? "multiplies" : "multiply",
                      rounded);
  return {};
}

}  // namespace rung::passes
