// Makes products of i8 of what quantised files write in floats, and of the parts in which f32 sums integers exactly.
// SPDX-License-Identifier: Apache-2.0
#include "base/words.hpp"
#include "passes/integer_values.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"

namespace rung::passes {
namespace {

constexpr int64_t kFirstAbove = 128;  // of i8: u8 minus this is i8

class ProductFormer {
 public:
  ProductFormer(Graph& graph, PassContext& context)
      : graph_(graph), context_(context), constant_(constant_nodes(graph)) {}

  // linear(dequantised(q), dequantised(w), b)  =>  linear(q, w, b', scale = s_q s_w)      one scale for q, and one for
  // w or for each of its rows; w less its zero points is i8; the linear is plain. With a zero point z of q the sums
  // have -z times those of w's rows as a bias of integers, and b is added behind.
  bool form_of_floats(NodeId id) {
    const auto* op = graph_.as<Linear>(id);
    if (!op || !op->is_plain() || graph_.type(id).dtype != DType::f32) return false;
    const std::vector<NodeId> operands = graph_[id].operands;
    const auto x = dequantised(graph_, operands[0]);
    if (!x || !is_constant(operands[1])) return false;
    const auto w = dequantised_weight(graph_, operands[1]);
    if (!w) return false;
    Insertion here(graph_, id);
    const NodeId scale = times(rows_of(w->scale, w->integers), rows_of(x->scale, w->integers));
    const NodeId* bias = op->slots.find(operands, LinearSlot::bias);
    return form(id, {.product = {x->integers, w->integers, kNoNode}, .scale = scale, .bias = bias ? *bias : kNoNode});
  }

  // mul(cast(sum), s)  =>  linear(q, w, b, scale = s)      the sum is that of products of integers, in i32; s is one
  // number, or one for each column; a bias of integers takes the zero point, so that the sums stay exact
  bool form_of_integers(NodeId id) {
    const auto* product = graph_.as<Binary>(id);
    if (!product || product->kind != BinaryKind::mul || graph_.type(id).dtype != DType::f32) return false;
    for (const size_t i : {size_t{0}, size_t{1}}) {
      const NodeId sum = graph_[id].operands[i], scale = graph_[id].operands[1 - i];
      if (!graph_.as<Cast>(sum) || graph_.type(sum).shape != graph_.type(id).shape) continue;
      const auto found = summed_product(graph_, graph_[sum].operands[0], constant_);
      if (!found || !is_scale_of_rows(graph_, scale, found->w)) continue;
      Insertion here(graph_, id);
      if (form(id, {.product = *found, .scale = rows_of(scale, found->w), .exact = true})) return true;
    }
    return false;
  }

 private:
  struct Form {
    SummedProduct product;
    NodeId scale, bias = kNoNode;  // of floats
    bool exact = false;            // whether sums are to be those of integers, whatever their size
  };

  bool is_constant(NodeId id) const { return id < constant_.size() && constant_[id]; }

  bool form(NodeId id, const Form& form) {
    const auto w = bytes_of(form.product.w);
    if (!w) return false;
    const auto [x, zero] = bytes_of(form.product.x);
    Linear op;
    std::vector<NodeId> operands{x, *w};
    op.slots.put(operands, LinearSlot::scale, form.scale);
    const bool adds_integers = form.exact || zero != kNoNode;
    if (adds_integers) op.slots.put(operands, LinearSlot::bias, sum_bias(*w, zero, form.product.bias));
    if (!adds_integers && form.bias != kNoNode) op.slots.put(operands, LinearSlot::bias, form.bias);
    if (!context_.kernel_for(graph_, op, operands)) return false;
    NodeId by = graph_.add(op, std::move(operands), graph_[id].label);
    if (adds_integers && form.bias != kNoNode)
      by = graph_.add(Binary{BinaryKind::add}, {by, form.bias}, graph_[id].label);
    return replace_with(graph_, id, by);
  }

  // Returns the values as i8, and what their zero point is then; kNoNode: 0.
  std::pair<NodeId, NodeId> bytes_of(const Quantised& x) {
    const bool is_u8 = graph_.type(x.values).dtype == DType::u8;
    const NodeId values = is_u8 ? lowered(x.values) : x.values;
    const NodeId zero = zero_of(x, is_u8 ? kFirstAbove : 0);
    return {with_views(graph_, values, x.views), zero};
  }
  NodeId lowered(NodeId values) {
    const std::string label = graph_[values].label;
    const NodeId wide = graph_.add(Cast{DType::f32}, {values}, label);
    const NodeId middle = graph_.literal("middle", Tensor::of<float>({}, {static_cast<float>(kFirstAbove)}));
    return graph_.add(Cast{DType::i8}, {graph_.add(Binary{BinaryKind::sub}, {wide, middle}, label)}, label);
  }
  NodeId zero_of(const Quantised& x, int64_t above) {
    if (x.zero == kNoNode && above == 0) return kNoNode;
    if (const auto known = x.zero == kNoNode ? 0 : uniform_value(graph_, x.zero)) {
      const auto zero = static_cast<int32_t>(*known) - static_cast<int32_t>(above);
      return zero == 0 ? kNoNode : graph_.literal("zero_point", Tensor::of<int32_t>({}, {zero}));
    }
    const NodeId zero = reshaped(graph_, graph_.add(Cast{DType::i32}, {x.zero}), Shape{});
    const NodeId first = graph_.literal("first", Tensor::of<int32_t>({}, {static_cast<int32_t>(above)}));
    return graph_.add(Binary{BinaryKind::sub}, {zero, first});
  }

  // Returns w [N,K] as i8; none: it has numbers that no i8 is.
  std::optional<NodeId> bytes_of(const ConstantIntegers& w) {
    if (!fits_i8(graph_, w)) return std::nullopt;
    NodeId values = graph_.as<Cast>(w.values) ? graph_[w.values].operands[0] : w.values;
    if (graph_.type(values).dtype != DType::i8)
      values = graph_.add(Cast{DType::i8}, {w.values}, graph_[w.values].label);
    return w.transposed ? transposed(graph_, values, {1, 0}, graph_[w.values].label) : values;
  }

  // Returns -zero times the sums of w's rows, plus a bias of integers.
  NodeId sum_bias(NodeId w, NodeId zero, NodeId bias) {
    const int64_t rows = graph_.shape(w)[0];
    if (bias != kNoNode) bias = reshaped(graph_, bias, Shape{rows}, graph_[bias].label);
    if (zero == kNoNode) return bias != kNoNode ? bias : graph_.literal("no_bias", Tensor({DType::i32, {rows}}));
    const NodeId sums = graph_.add(Cast{DType::i32}, {graph_.add(Reduce{ReduceKind::sum, 1}, {w})});
    const NodeId negative = graph_.add(Unary{UnaryKind::neg}, {zero});
    const NodeId centring = graph_.add(Binary{BinaryKind::mul}, {sums, negative}, graph_[w].label);
    return bias == kNoNode ? centring : graph_.add(Binary{BinaryKind::add}, {centring, bias}, graph_[w].label);
  }

  // Returns a scale as a vector of one for each row of w.
  NodeId rows_of(NodeId scale, const ConstantIntegers& w) {
    const int64_t rows = graph_.shape(w.values)[w.transposed ? 1 : 0];
    if (graph_.type(scale).elements() == rows && rows > 1) return reshaped(graph_, scale, Shape{rows});
    return graph_.add(Broadcast{Shape{rows}}, {reshaped(graph_, scale, Shape{})}, graph_[scale].label);
  }
  NodeId times(NodeId a, NodeId b) { return graph_.add(Binary{BinaryKind::mul}, {a, b}, graph_[a].label); }

  Graph& graph_;
  PassContext& context_;
  std::vector<bool> constant_;
};

}  // namespace

Status recognise_integer_products(Graph& graph, PassContext& context) {
  ProductFormer former(graph, context);
  size_t formed = 0;
  for_each_node(graph, [&](NodeId id) { formed += former.form_of_floats(id) || former.form_of_integers(id); });
  if (formed)
    context.notes.add("{} as the file quantised them", words::counted(formed, "product of i8", "products of i8"));
  return {};
}

}  // namespace rung::passes
