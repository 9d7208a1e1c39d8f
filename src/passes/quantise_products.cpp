// Makes products read 8 bits where the precision asks for it: weights by one scale a row, and what they multiply by a
// scale that was measured before, which their producer takes over, or by one that each row gets when it is there.
// Weights alone may have 4 bits, or scales of groups of columns.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <tuple>

#include "base/words.hpp"
#include "ir/quantised.hpp"
#include "passes/asked_bits.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"

namespace rung::passes {
namespace {

constexpr float kHeadroom = 2;  // unseen inputs may have values larger than those measured

// Returns s such that values up to `largest`, divided by s, are within the type. A float of 8 bits loses nothing by
// headroom, nor by a power of two, which leaves weights as exact as they are. An integer does: twice the scale is twice
// the error of every value, and what is cut off is rare.
float scale_for(float largest, DType to) {
  if (!(largest > 0)) return 1;
  if (to == DType::i8) return largest / largest_of(to);
  return std::exp2(std::ceil(std::log2(kHeadroom * largest / largest_of(to))));
}
bool is_power_of_two(float x) {
  int exponent = 0;
  return std::frexp(x, &exponent) == 0.5f;
}

class Quantiser {
 public:
  Quantiser(Graph& graph, PassContext& context)
      : graph_(graph), context_(context), constant_(constant_nodes(graph)), asked_(graph.capacity()) {}

  Status run() {
    const std::vector<NodeId> order = graph_.order();
    for (NodeId id : order) asked_[id] = asked_bits(graph_, constant_, context_.precision, id);
    for (NodeId id : order) RUNG_CHECK(check_outliers(id));
    for (NodeId id : order)
      if (graph_[id].alive && is_asked(id)) quantise(id);
    return {};
  }
  void account() const {
    const auto note = [&](size_t count, std::string_view what) {
      if (count) context_.notes.add("{} {}", words::counted(count, "product reads", "products read"), what);
    };
    note(static_, "8 bits by measured scales");
    note(dynamic_, "8 bits by a scale for each row");
    note(outliers_, "some columns in their own type beside 8 bits");
    note(weights_, "weights of 8 bits");
    note(grouped_, "weights in groups of columns");
  }

 private:
  using Readers = std::map<NodeId, NodeId>;  // linears, and the value or view of it that each reads as x

  bool is_asked(NodeId id) const { return id < asked_.size() && asked_[id].any(); }

  void quantise(NodeId id) {
    const AskedBits asked = asked_[id];
    if (asked.weights) return quantise_weights(id, *asked.weights);
    if (quantise_source(source_of(graph_[id].operands[0]), *asked.both)) return;
    quantise_rows(id, *asked.both);
  }

  // Returns the columns of what a linear reads that keep their type.
  Columns outliers_of(NodeId id) const {
    if (precision_at(context_.precision, graph_[id].label).outliers == 0) return {};
    const auto found = context_.outliers.find(graph_[id].label);
    return found == context_.outliers.end() ? Columns{} : found->second;
  }
  Status check_outliers(NodeId id) const {
    if (!asked_[id].both) return {};
    const LabelPrecision at = precision_at(context_.precision, graph_[id].label);
    if (at.outliers == 0) return {};
    const std::string& label = graph_[id].label;
    if (*asked_[id].both != DType::i8)
      return mismatch("recipe: '{}': got outliers beside products of {}, wanted i8", label, *asked_[id].both);
    if (at.rotate) return mismatch("recipe: '{}': got outliers and channels that 'rotate' mixes, wanted one", label);
    const Columns columns = outliers_of(id);
    const int64_t width = graph_.shape(graph_[id].operands[1])[1], count = std::ssize(columns);
    const std::string field = fmt::format("recipe: field 'outlier_columns': '{}'", label);
    if (count > 0 && columns.back() >= width)
      return mismatch("{}: got column {}, wanted columns below {}", field, columns.back(), width);
    if (count > at.outliers) return mismatch("{}: got {} columns, wanted at most {}", field, count, at.outliers);
    return {};
  }

  // Puts another form of a linear in its place, for the readers of all its results.
  void put(NodeId id, const Linear& op, std::vector<NodeId> operands) {
    Insertion here(graph_, id);
    const NodeId by = graph_.add(op, std::move(operands), graph_[id].label);
    move_further_results(id, by);
    replace_with(graph_, id, by);
  }
  // Makes the readers of a linear's further results read those of its other form; not the readers of `but`, whose type
  // is another there.
  void move_further_results(NodeId linear, NodeId by, NodeId but = kNoNode) {
    for (const NodeId user : std::vector<NodeId>(graph_[linear].users)) {
      const auto* further = graph_.as<NthResult>(user);
      if (further && user != but) graph_.replace_uses(user, graph_.add(NthResult(*further), {by}, graph_[user].label));
    }
  }

  // linear(x, w)  =>  linear(x, w of 8 bits, its rows' scales)
  void quantise_weights(NodeId id, const WeightForm& form) {
    if (form.group > 0) return group_weights(id, form);
    const Linear op = with_scales(id, false);
    if (!runs(op, types_with_scales(id, op, graph_.type(graph_[id].operands[0]).dtype, form.to))) return;
    Insertion here(graph_, id);
    put(id, op, operands_of(id, op, graph_[id].operands[0], Quantize{form.to}, 1));
    ++weights_;
  }

  // linear(x, w)  =>  linear(x, w of 8 or 4 bits, the scales of its rows and of groups in them, and for 4 bits offsets)
  void group_weights(NodeId id, const WeightForm& form) {
    const NodeId w = graph_[id].operands[1];
    if (const int64_t k = graph_.type(w).shape[1]; k % form.group)
      return refuse("linear", fmt::format("weights of {} columns, wanted a multiple of {}", k, form.group));
    const Quantize quantize{.to = form.to, .group = form.group};
    const std::vector<Type> w_type{graph_.type(w)};
    const std::vector<Type> results = result_types(quantize, w_type, *infer_type(quantize, w_type));
    constexpr LinearSlot kSlots[] = {LinearSlot::w, LinearSlot::scale, LinearSlot::group_scale,
                                     LinearSlot::group_offset};
    Linear op = *graph_.as<Linear>(id);
    std::vector<Type> types = graph_.operand_types(id);
    for (size_t i = 0; i < results.size(); ++i) op.slots.put(types, kSlots[i], results[i]);
    if (!runs(op, types)) return;
    Insertion here(graph_, id);
    std::vector<NodeId> operands = graph_[id].operands;
    LinearSlots slots = graph_.as<Linear>(id)->slots;
    const NodeId numbers = quantised(w, quantize).first;
    slots.put(operands, LinearSlot::w, numbers);
    for (size_t i = 1; i < results.size(); ++i)
      slots.put(operands, kSlots[i], graph_.add(NthResult{static_cast<int64_t>(i)}, {numbers}, graph_[w].label));
    put(id, op, std::move(operands));
    ++grouped_;
  }

  // linear(x, w)  =>  linear(quantize(x), w of 8 bits, the scales of both, and outliers of both where there are some)
  void quantise_rows(NodeId id, DType to) {
    const Quantize form{.to = to, .outliers = outliers_of(id)};
    const NodeId x = graph_[id].operands[0];
    Linear op = with_scales(id, true);
    std::vector<Type> types = types_with_scales(id, op, to, to);
    if (!form.outliers.empty()) put_outliers(op.slots, types, outlier_types(id, form));
    if (!runs(op, types) || !runs(form, std::vector{graph_.type(x)})) return;
    Insertion here(graph_, id);
    const auto [values, scales] = quantised(x, form);
    std::vector<NodeId> operands = operands_of(id, with_scales(id, true), values, form, 1);
    operands[op.slots.before(LinearSlot::x_scale)] = scales;
    if (!form.outliers.empty()) {
      LinearSlots slots = with_scales(id, true).slots;
      put_outliers(slots, operands, outliers_of_both(values, operands[1], graph_.type(graph_[id].operands[1]).dtype));
      ++outliers_;
    }
    put(id, op, std::move(operands));
    ++dynamic_;
  }
  template <class List, class Both>
  static void put_outliers(LinearSlots& slots, List& list, const Both& both) {
    slots.put(list, LinearSlot::x_outliers, both.first);
    slots.put(list, LinearSlot::w_outliers, both.second);
  }
  // Returns the types of the outliers of what a linear multiplies and of its weights.
  std::pair<Type, Type> outlier_types(NodeId id, const Quantize& form) const {
    const auto of = [&](size_t i, DType dtype) {
      Type type{dtype, graph_.type(graph_[id].operands[i]).shape};
      type.shape[type.shape.rank() - 1] = std::ssize(form.outliers);
      return type;
    };
    return {of(0, DType::f32), of(1, graph_.type(graph_[id].operands[1]).dtype)};
  }
  // Returns them as nodes. Those of weights have the weights' type again, in which they are as exact.
  std::pair<NodeId, NodeId> outliers_of_both(NodeId x, NodeId w, DType dtype) {
    const NodeId of_x = graph_.add(NthResult{2}, {x}, graph_[x].label);
    NodeId of_w = graph_.add(NthResult{2}, {w}, graph_[w].label);
    if (dtype != DType::f32) of_w = graph_.add(Cast{dtype}, {of_w}, graph_[w].label);
    return {of_x, of_w};
  }

  // y = producer(...), linear(y, w)  =>  y = producer(...) / s in 8 bits, linear(y, w of 8 bits, scales * s)
  // Every reader of y is such a linear, the largest |y| that each saw is known, and there are kernels for all of them.
  bool quantise_source(NodeId source, DType to) {
    Readers readers;
    if (!collect_readers(source, source, to, readers)) return false;
    float largest = 0;
    for (const auto& [reader, value] : readers) {
      const auto found = context_.calibration.find(graph_[reader].label);
      if (found == context_.calibration.end()) return false;
      largest = std::max(largest, found->second);
      const Linear op = with_scales(reader, false);
      if (!runs(op, types_with_scales(reader, op, to, to))) return false;
    }
    const float scale = scale_for(largest, to);
    if (!std::isnormal(1 / scale)) return false;  // rows of such small values get scales of their own
    const NodeId by = divided(source, to, 1 / scale);
    if (by == kNoNode) return false;
    std::map<NodeId, NodeId> moved{{source, by}};
    for (const auto& [reader, value] : readers) {
      Insertion here(graph_, reader);
      const Linear op = with_scales(reader, false);
      put(reader, op, operands_of(reader, op, view_on(moved, value), Quantize{to}, scale));
      ++static_;
    }
    return true;
  }

  // Returns the value behind reshapes and slices.
  NodeId source_of(NodeId x) const {
    while (graph_.as<Reshape>(x) || graph_.as<Slice>(x)) x = graph_[x].operands[0];
    return x;
  }
  bool collect_readers(NodeId source, NodeId value, DType to, Readers& readers) const {
    if (graph_.is_output(value)) return false;
    return std::ranges::all_of(graph_[value].users, [&](NodeId user) {
      if (graph_.as<Reshape>(user) || graph_.as<Slice>(user)) return collect_readers(source, user, to, readers);
      const auto& operands = graph_[user].operands;
      readers[user] = value;
      return is_asked(user) && asked_[user].both == to && outliers_of(user).empty() && operands[0] == value &&
             std::ranges::count(operands, value) == 1;
    });
  }
  NodeId view_on(std::map<NodeId, NodeId>& moved, NodeId value) {
    if (const auto found = moved.find(value); found != moved.end()) return found->second;
    const NodeId on = view_on(moved, graph_[value].operands[0]);
    return moved[value] = graph_.add(graph_[value].op, {on}, graph_[value].label);
  }

  // Returns a copy of the value's producer whose result has 8 bits, times the factor; kNoNode: there is no kernel.
  NodeId divided(NodeId source, DType to, float factor) {
    if (graph_.as<NthResult>(source)) return divided_result(source, to, factor);
    Op op = graph_[source].op;
    std::vector<NodeId> operands = graph_[source].operands;
    std::vector<size_t> divides;  // constants
    if (auto* linear = std::get_if<Linear>(&op)) {
      if (linear->has(LinearSlot::cos) || linear->has(LinearSlot::norm_weight)) return kNoNode;
      linear->out = to, linear->epilogue.factor *= factor;
    } else if (auto* attention = std::get_if<Attention>(&op)) {
      attention->out = to, attention->factor *= factor;
    } else if (auto* norm = std::get_if<LayerNorm>(&op)) {
      norm->out = to, divides = {norm->slots.before(LayerNormSlot::weight), norm->slots.before(LayerNormSlot::bias)};
    } else if (auto* rms = std::get_if<RmsNorm>(&op)) {
      rms->out = to, rms->weight_offset *= factor, divides = {1};
    } else {
      return kNoNode;
    }
    std::vector<Type> types = graph_.operand_types(source);
    for (const size_t i : divides) types[i] = type_times(types[i], factor);
    if (!runs(op, types)) return kNoNode;
    Insertion here(graph_, source);
    for (const size_t i : divides) operands[i] = times(operands[i], factor);
    return graph_.add(std::move(op), std::move(operands), graph_[source].label);
  }
  // The same of the norm that a linear leaves for its readers.
  NodeId divided_result(NodeId source, DType to, float factor) {
    const NodeId first = graph_[source].operands[0];
    const auto* linear = graph_.as<Linear>(first);
    const auto is_normed = [&](NodeId user) { return is_result(user, 1); };
    if (!linear || !is_normed(source) || std::ranges::count_if(graph_[first].users, is_normed) > 1) return kNoNode;
    Linear op = *linear;
    op.epilogue.normed = to;
    if (!runs(op, graph_.operand_types(first))) return kNoNode;
    Insertion here(graph_, first);
    std::vector<NodeId> operands = graph_[first].operands;
    NodeId& weight = operands[op.slots.before(LinearSlot::norm_weight)];
    weight = times(weight, factor);
    const NodeId by = graph_.add(op, std::move(operands), graph_[first].label);
    move_further_results(first, by, source);
    graph_.replace_uses(first, by);
    return graph_.add(NthResult{1}, {by}, graph_[source].label);
  }

  bool is_result(NodeId id, int64_t index) const {
    const auto* further = graph_.as<NthResult>(id);
    return further && further->index == index;
  }

  // Returns a constant's type after it was multiplied: f32, unless the factor leaves it as exact as it was.
  static Type type_times(Type type, float factor) {
    if (!is_power_of_two(factor)) type.dtype = DType::f32;
    return type;
  }
  NodeId times(NodeId constant, float factor) {
    if (factor == 1) return constant;
    auto [found, is_new] = products_.try_emplace({constant, factor});
    if (!is_new) return found->second;
    const DType type = type_times(graph_.type(constant), factor).dtype;
    if (type != graph_.type(constant).dtype) constant = graph_.add(Cast{type}, {constant}, graph_[constant].label);
    const Tensor by = convert(Tensor::of<float>({}, {factor}), type);
    return found->second =
               graph_.add(Binary{BinaryKind::mul}, {constant, graph_.literal("scale", by)}, graph_[constant].label);
  }

  // Returns the values of 8 bits and their rows' scales.
  std::pair<NodeId, NodeId> quantised(NodeId x, const Quantize& op) {
    auto [found, is_new] = quantised_.try_emplace({x, op.to, op.group, op.outliers});
    if (is_new) {
      const NodeId values = graph_.add(op, {x}, graph_[x].label);
      found->second = {values, graph_.add(NthResult{1}, {values}, graph_[x].label)};
    }
    return found->second;
  }

  Linear with_scales(NodeId id, bool of_x) const {
    Linear op = *graph_.as<Linear>(id);
    op.slots.add(LinearSlot::scale);
    if (of_x) op.slots.add(LinearSlot::x_scale);
    return op;
  }
  // Returns the types of the linear's operands and of the scales behind them.
  std::vector<Type> types_with_scales(NodeId id, const Linear& op, DType x, DType w) const {
    std::vector<Type> types = graph_.operand_types(id);
    types[0].dtype = x, types[1].dtype = w;
    types.push_back({DType::f32, {types[1].shape[0]}});
    if (!op.has(LinearSlot::x_scale)) return types;
    types.push_back({DType::f32, types[0].shape});
    types.back().shape.erase(types[0].shape.rank() - 1);
    return types;
  }
  std::vector<NodeId> operands_of(NodeId id, const Linear& op, NodeId x, const Quantize& form, float scale_of_x) {
    std::vector<NodeId> operands = graph_[id].operands;
    auto [w, scales] = quantised(operands[1], form);
    operands[0] = x, operands[1] = w;
    operands.resize(op.slots.size(), kNoNode);
    operands[op.slots.before(LinearSlot::scale)] = times(scales, scale_of_x);
    return operands;
  }
  bool runs(const Op& op, std::span<const Type> types) const {
    if (!context_.has_kernel) return true;
    const Verdict verdict = context_.has_kernel(op, types);
    if (verdict) return true;
    refuse(name_of(op), verdict.reason);
    return false;
  }
  void refuse(std::string_view op, std::string_view why) const {
    std::string line = fmt::format("not in 8 bits: {}: {}", op, why);
    if (!std::ranges::count(context_.notes.lines, line)) context_.notes.lines.push_back(std::move(line));
  }

  Graph& graph_;
  PassContext& context_;
  std::vector<bool> constant_;
  std::vector<AskedBits> asked_;  // by node
  std::map<std::tuple<NodeId, DType, int64_t, Columns>, std::pair<NodeId, NodeId>> quantised_;
  std::map<std::pair<NodeId, float>, NodeId> products_;  // of constants and factors
  size_t static_ = 0, dynamic_ = 0, outliers_ = 0, weights_ = 0, grouped_ = 0;
};

}  // namespace

Status quantise_products(Graph& graph, PassContext& context) {
  if (!is_quantised(narrowest(context.precision))) return {};
  Quantiser quantiser(graph, context);
  RUNG_CHECK(quantiser.run());
  quantiser.account();
  return {};
}

}  // namespace rung::passes
