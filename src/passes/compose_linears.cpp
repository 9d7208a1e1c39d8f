// Folds a constant part of a linear's input, a factor or a constant row before or after it and a plain linear before it
// into its weights and its bias, which the plan builder works out once.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <utility>

#include "base/words.hpp"
#include "measure/cost.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"

namespace rung::passes {
namespace {

// The plan builder works new weights out in f64, one product after another: weights that take seconds are not worth it.
constexpr int64_t kMostScaled = int64_t{1} << 23, kMostProducts = int64_t{1} << 31;

class Composer {
 public:
  Composer(Graph& graph, PassContext& context) : graph_(graph), context_(context), constant_(constant_nodes(graph)) {}

  void visit(NodeId id) {
    if (is_constant(id)) return;
    id = make_silu(id);
    id = scale(id);
    id = scale_input(id);
    id = shift_input(id);
    id = drop_constant_columns(id);
    compose(id);
  }

  void tell(Notes& notes) const {
    if (scaled_) notes.add("{} moved into the weights of a linear", words::counted(scaled_, "factor"));
    if (shifted_) notes.add("{} took a constant row of the input into the bias", words::counted(shifted_, "linear"));
    if (dropped_)
      notes.add("{} had a constant part of the input: what it adds is a bias now", words::counted(dropped_, "linear"));
    if (composed_)
      notes.add("{} of a linear became one, up to the rounding of f32", words::counted(composed_, "linear"));
    if (saved_.flops > 0) notes.add("{:.4g} MFLOP and {:.4g} MB less", saved_.flops / 1e6, saved_.bytes / 1e6);
  }

 private:
  // Adds a node at the graph's insertion point; it depends only on constants if all its operands do.
  NodeId add(Op op, std::vector<NodeId> operands, std::string label) {
    bool constant = std::all_of(operands.begin(), operands.end(), [&](NodeId o) { return is_constant(o); });
    NodeId id = graph_.add(std::move(op), std::move(operands), std::move(label));
    constant_.resize(graph_.capacity());
    constant_[id] = constant;
    return id;
  }
  NodeId add_reshape(NodeId x, const Shape& shape) {
    return graph_.shape(x) == shape ? x : add(Reshape{shape}, {x}, graph_[x].label);
  }
  bool is_constant(NodeId id) const { return id < constant_.size() && constant_[id]; }
  bool has_type(NodeId id, DType type) const { return graph_.type(id).dtype == type; }
  bool is_f32(NodeId id) const { return has_type(id, DType::f32); }

  // Returns the linear if its form is not extended and its weights and bias are constants; else null.
  const Linear* linear(NodeId id) const {
    const auto* op = graph_.as<Linear>(id);
    if (!op || op->is_extended()) return nullptr;
    const std::vector<NodeId>& operands = graph_[id].operands;
    const NodeId* bias = op->slots.find(operands, LinearSlot::bias);
    return is_constant(operands[1]) && (!bias || is_constant(*bias)) ? op : nullptr;
  }
  // Returns whether the node is only x w' + bias, all of one type. In f32 one rounding more or less is within its
  // error.
  bool is_plain(NodeId id, DType type = DType::f32) const {
    const Linear* op = linear(id);
    const std::vector<NodeId>& operands = graph_[id].operands;
    return op && op->is_plain() && has_type(id, type) &&
           std::all_of(operands.begin(), operands.end(), [&](NodeId o) { return has_type(o, type); });
  }

  // Puts a linear where `old` stood, if there is a kernel for it; the cost saved is counted against `before`.
  NodeId replace_by(NodeId old, const Linear& op, std::vector<NodeId> operands, const Cost& before) {
    if (!context_.kernel_for(graph_, op, operands)) return kNoNode;
    NodeId by = add(op, std::move(operands), graph_[old].label);
    replace_with(graph_, old, by);
    Cost after = cost_of(graph_, by);
    saved_.flops += before.flops - after.flops, saved_.bytes += before.bytes - after.bytes;
    return by;
  }

  // A product of a value and a constant, which is one number or one per column of the value.
  struct Scaled {
    NodeId value = kNoNode, factor = kNoNode;
    bool per_column = false;
  };
  std::optional<Scaled> scaled(NodeId id) const {
    const auto* product = graph_.as<Binary>(id);
    if (!product || product->kind != BinaryKind::mul || !is_float(graph_.type(id).dtype)) return std::nullopt;
    for (size_t i : {size_t{0}, size_t{1}}) {
      const Scaled found{graph_[id].operands[i], graph_[id].operands[1 - i]};
      if (!is_constant(found.factor) || is_constant(found.value)) continue;
      if (graph_.type(found.value) != graph_.type(id)) continue;
      const Shape& shape = graph_.shape(found.factor);
      if (shape.product() == 1) return found;
      if (shape.product() == shape.back() && shape.back() == graph_.shape(id).back())
        return Scaled{found.value, found.factor, true};
    }
    return std::nullopt;
  }

  NodeId times(NodeId constant, NodeId factor, const Shape& shape) {
    return add(Binary{BinaryKind::mul}, {constant, add_reshape(factor, shape)}, graph_[constant].label);
  }

  // mul(linear(x, w, b), c)  =>  linear(x, mul(w, c), mul(b, c))      c is one number, or one per column; the linear is
  // plain and small, and has no other reader, nor have its weights if c is more than a number: each reader would have
  // its own. In 16 bits the roundings of the linear and of the product go, and those of the weights, which are no
  // larger, come.
  NodeId scale(NodeId id) {
    const auto product = scaled(id);
    if (!product || !graph_.single_use(product->value)) return id;
    if (!is_plain(product->value, graph_.type(id).dtype)) return id;
    const NodeId x = product->value;
    if (graph_.type(graph_[x].operands[1]).elements() > kMostScaled) return id;
    if (product->per_column && !graph_.single_use(graph_[x].operands[1])) return id;
    Insertion here(graph_, id);
    const int64_t columns = graph_.shape(id).back();
    std::vector<NodeId> operands = graph_[x].operands;
    operands[1] = times(operands[1], product->factor, product->per_column ? Shape{columns, 1} : Shape{});
    for (size_t k = 2; k < operands.size(); ++k)
      operands[k] = times(operands[k], product->factor, product->per_column ? Shape{columns} : Shape{});
    return scaled_by(id, x, std::move(operands));
  }

  // linear(mul(x, c), w, b)  =>  linear(x, mul(w, c), b)      c is one number, or one per column; the linear is plain
  // and small, and nothing else reads the product
  NodeId scale_input(NodeId id) {
    if (!is_plain(id) || graph_.type(graph_[id].operands[1]).elements() > kMostScaled) return id;
    const NodeId product = graph_[id].operands[0];
    const auto input = scaled(product);
    if (!input || !graph_.single_use(product)) return id;
    Insertion here(graph_, id);
    std::vector<NodeId> operands = graph_[id].operands;
    operands[0] = input->value;
    operands[1] = times(operands[1], input->factor, input->per_column ? Shape{graph_.shape(product).back()} : Shape{});
    return scaled_by(product, id, std::move(operands));
  }

  // linear(add(x, c), w, b)  =>  linear(x, w, b + c w')      c is constant, one number per column; the linear is plain
  // and small, and so is whatever else reads the sum
  NodeId shift_input(NodeId id) {
    if (!is_shifted_by_bias(id)) return id;
    const NodeId sum = graph_[id].operands[0];
    const auto* binary = graph_.as<Binary>(sum);
    if (!binary || binary->kind != BinaryKind::add || graph_.is_output(sum)) return id;
    const auto& users = graph_[sum].users;
    if (!std::all_of(users.begin(), users.end(), [&](NodeId user) { return is_shifted_by_bias(user); })) return id;
    for (const size_t i : {size_t{0}, size_t{1}}) {
      const NodeId x = graph_[sum].operands[i], row = graph_[sum].operands[1 - i];
      const int64_t columns = graph_.shape(sum).back();
      const bool is_row = is_constant(row) && graph_.shape(row).rank() > 0 && graph_.shape(row).back() == columns &&
                          graph_.shape(row).product() == columns;
      if (is_row && !is_constant(x) && graph_.type(x) == graph_.type(sum)) return shifted_by(id, x, row);
    }
    return id;
  }
  bool is_shifted_by_bias(NodeId id) const {
    return is_plain(id) && graph_.type(graph_[id].operands[1]).elements() <= kMostScaled;
  }
  NodeId shifted_by(NodeId id, NodeId x, NodeId row) {
    Insertion here(graph_, id);
    Linear op = *graph_.as<Linear>(id);
    std::vector<NodeId> operands = graph_[id].operands;
    const NodeId sum = std::exchange(operands[0], x);
    Cost before = cost_of(graph_, id);
    if (graph_.single_use(sum)) before.flops += cost_of(graph_, sum).flops, before.bytes += cost_of(graph_, sum).bytes;
    const NodeId w = operands[1];
    add_to_bias(op, operands, add_reshape(row, {1, graph_.shape(w)[1]}), w, graph_[id].label);
    const NodeId by = replace_by(id, op, std::move(operands), before);
    shifted_ += by != kNoNode;
    return by == kNoNode ? id : by;
  }

  // Replaces the later of a linear and a product beside it by the linear over the operands.
  NodeId scaled_by(NodeId product, NodeId linear, std::vector<NodeId> operands) {
    Cost before = cost_of(graph_, linear);
    before.flops += cost_of(graph_, product).flops, before.bytes += cost_of(graph_, product).bytes;
    const NodeId last = graph_[linear].operands[0] == product ? linear : product;
    const NodeId by = replace_by(last, *graph_.as<Linear>(linear), std::move(operands), before);
    scaled_ += by != kNoNode;
    return by == kNoNode ? last : by;
  }

  // mul(h, sigmoid(mul(h, c)))  =>  mul(silu(linear(x, mul(w, c), mul(b, c))), 1 / c)      h is linear(x, w, b), plain
  // and small, c is one number, and nothing else reads h: a linear takes silu as its activation
  NodeId make_silu(NodeId id) {
    const auto* product = graph_.as<Binary>(id);
    if (!product || product->kind != BinaryKind::mul || !is_f32(id)) return id;
    for (size_t i : {size_t{0}, size_t{1}}) {
      const NodeId h = graph_[id].operands[i], gate = graph_[id].operands[1 - i];
      const auto* sigmoid = graph_.as<Unary>(gate);
      if (!sigmoid || sigmoid->kind != UnaryKind::sigmoid || !is_plain(h) || graph_[h].users.size() != 2) continue;
      const auto inner = scaled(graph_[gate].operands[0]);
      const auto c = inner ? uniform_value(graph_, inner->factor) : std::nullopt;
      if (!c || *c == 0 || inner->value != h || inner->per_column || graph_.is_output(h)) continue;
      if (graph_.type(graph_[h].operands[1]).elements() > kMostScaled) continue;
      Insertion here(graph_, id);
      std::vector<NodeId> operands = graph_[h].operands;
      for (size_t k = 1; k < operands.size(); ++k) operands[k] = times(operands[k], inner->factor, {});
      const NodeId wider = add(*graph_.as<Linear>(h), std::move(operands), graph_[h].label);
      const NodeId silu = add(Unary{UnaryKind::silu}, {wider}, graph_[id].label);
      const NodeId back = literal(static_cast<float>(1.0 / *c));
      const NodeId by = add(Binary{BinaryKind::mul}, {silu, back}, graph_[id].label);
      replace_with(graph_, id, by);
      return ++scaled_, by;
    }
    return id;
  }

  NodeId literal(float value) {
    const NodeId id = graph_.literal("factor", Tensor::of<float>({}, {value}));
    constant_.resize(graph_.capacity());
    constant_[id] = true;
    return id;
  }

  // Returns the one constant row that all rows of `part` equal; kNoNode if there is none.
  NodeId constant_row(NodeId part) const {
    if (!is_constant(part)) return kNoNode;
    int64_t columns = graph_.shape(part).back();
    while (graph_.as<Broadcast>(part)) part = graph_[part].operands[0];
    const Shape& shape = graph_.shape(part);
    return shape.rank() > 0 && shape.back() == columns && shape.product() == columns ? part : kNoNode;
  }

  // linear(concat(x, t), w, b)  =>  linear(x, w[:, x's], t w[:, t's]' + b)      t's rows are one constant row
  NodeId drop_constant_columns(NodeId id) {
    const Linear* op = linear(id);
    NodeId x = op ? graph_[id].operands[0] : kNoNode;
    const auto* concat = op ? graph_.as<Concat>(x) : nullptr;
    if (!concat || axis_in(graph_, x, concat->axis) != graph_.shape(x).rank() - 1) return id;
    if (!is_f32(x) || !is_f32(graph_[id].operands[1]) || !is_f32(id)) return id;
    const std::vector<NodeId> parts = graph_[x].operands;
    auto fixed = std::count_if(parts.begin(), parts.end(), [&](NodeId p) { return constant_row(p) != kNoNode; });
    if (fixed == 0 || fixed == std::ssize(parts)) return id;
    Insertion here(graph_, id);
    NodeId by = without_columns(id, columns_of(parts, graph_[id].operands[1]));
    dropped_ += by != kNoNode;
    return by == kNoNode ? id : by;
  }

  // The parts of x and the columns of w that multiply them.
  struct Columns {
    std::vector<NodeId> kept, kept_weights, fixed, fixed_weights;
  };
  Columns columns_of(const std::vector<NodeId>& parts, NodeId w) {
    Columns columns;
    int64_t begin = 0;
    for (NodeId part : parts) {
      int64_t end = begin + graph_.shape(part).back();
      NodeId row = constant_row(part), weights = add(Slice{1, begin, end, 1}, {w}, graph_[w].label);
      if (row == kNoNode)
        columns.kept.push_back(part), columns.kept_weights.push_back(weights);
      else
        columns.fixed.push_back(add_reshape(row, {1, end - begin})), columns.fixed_weights.push_back(weights);
      begin = end;
    }
    return columns;
  }
  NodeId joined(const std::vector<NodeId>& parts, int64_t axis) {
    return parts.size() == 1 ? parts[0] : add(Concat{axis}, parts, graph_[parts[0]].label);
  }
  NodeId without_columns(NodeId id, const Columns& columns) {
    Linear op = *graph_.as<Linear>(id);
    std::vector<NodeId> operands = graph_[id].operands;
    Cost before = cost_of(graph_, id);
    if (columns.kept.size() == 1 && graph_.single_use(operands[0])) before.bytes += cost_of(graph_, operands[0]).bytes;
    const std::string label = graph_[id].label;
    const NodeId row = joined(columns.fixed, 1), w = joined(columns.fixed_weights, 1);
    add_to_bias(op, operands, row, w, label);
    operands[0] = joined(columns.kept, graph_.shape(operands[0]).rank() - 1);
    operands[1] = joined(columns.kept_weights, 1);
    return replace_by(id, op, std::move(operands), before);
  }
  // bias  =>  row w' + bias, the row being constant
  void add_to_bias(Linear& op, std::vector<NodeId>& operands, NodeId row, NodeId w, const std::string& label) {
    Linear product;
    std::vector<NodeId> reads{row, w};
    if (const NodeId* bias = op.slots.find(operands, LinearSlot::bias))
      product.slots.put(reads, LinearSlot::bias, *bias);
    const NodeId sum = add(product, std::move(reads), label);
    op.slots.put(operands, LinearSlot::bias, add_reshape(sum, {graph_.shape(w)[0]}));
  }

  // linear(linear(x, u, a), w, b)  =>  linear(x, w u, w a + b)      the inner one is plain, and has no other reader; it
  // must save flops and bytes, as it does where the value between is wide
  void compose(NodeId id) {
    const Linear* outer = linear(id);
    if (!outer || !is_f32(graph_[id].operands[1])) return;
    NodeId inner = graph_[id].operands[0];
    if (!graph_.single_use(inner) || !is_plain(inner) || !is_worthwhile(id, inner)) return;
    Insertion here(graph_, id);
    Linear op = *outer;
    std::vector<NodeId> operands = graph_[id].operands, from = graph_[inner].operands;
    const NodeId w = operands[1];
    const std::string label = graph_[w].label;
    Cost before = cost_of(graph_, id), first = cost_of(graph_, inner);
    before.flops += first.flops, before.bytes += first.bytes;
    NodeId columns = add(Transpose{{1, 0}}, {from[1]}, graph_[from[1]].label);
    operands[0] = from[0], operands[1] = add(Linear{}, {w, columns}, label);
    if (const NodeId* bias = graph_.as<Linear>(inner)->slots.find(from, LinearSlot::bias))
      add_to_bias(op, operands, add_reshape(*bias, {1, graph_.shape(*bias)[0]}), w, label);
    composed_ += replace_by(id, op, std::move(operands), before) != kNoNode;
  }
  bool is_worthwhile(NodeId outer, NodeId inner) const {
    const Shape &w = graph_.shape(graph_[outer].operands[1]), &u = graph_.shape(graph_[inner].operands[1]);
    return w[0] * u[1] < w[0] * w[1] + u[0] * u[1] && w[0] * w[1] * u[1] <= kMostProducts;
  }

  Graph& graph_;
  PassContext& context_;
  std::vector<bool> constant_;
  size_t scaled_ = 0, shifted_ = 0, dropped_ = 0, composed_ = 0;
  Cost saved_;
};

}  // namespace

Status compose_linears(Graph& graph, PassContext& context) {
  Composer composer(graph, context);
  for_each_node(graph, [&](NodeId id) { composer.visit(id); });
  composer.tell(context.notes);
  return {};
}

}  // namespace rung::passes
