// Reads masks that follow from the places of queries and keys alone, such as causal ones, as the span of an attention,
// whose kernels skip the keys outside it. Padding is left as one row for all queries.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/words.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"
#include "passes/visible_keys.hpp"
#include "reference/evaluate.hpp"

namespace rung::passes {
namespace {

constexpr int64_t kMostElements = int64_t{1} << 24;  // of a table that is looked at: 4096 queries and keys

// A number as low as this hides a key as well as -inf does, from a query that sees another key: its weight is 0.
constexpr double kLow = -1e30;

struct Sizes {
  int64_t queries, keys;
  friend bool operator<(const Sizes& a, const Sizes& b) {
    return std::pair(a.queries, a.keys) < std::pair(b.queries, b.keys);
  }
};

// A mask, read as a span and what is left to add to the scores.
struct Reading {
  KeySpan span;
  NodeId rest = kNoNode;
};

class SpanReader {
 public:
  explicit SpanReader(Graph& graph) : graph_(graph), constant_(graph.capacity()) {
    for (NodeId id : graph.order()) {
      const auto& operands = graph[id].operands;
      const bool all = std::ranges::all_of(operands, [&](NodeId operand) { return constant_[operand]; });
      constant_[id] = graph.is_constant(id) ? graph.weight(id)->immediate() : !operands.empty() && all;
    }
  }

  // Returns the reading of an attention's mask, once for all attentions that share it; nodes that it adds stand at the
  // graph's insertion point.
  Result<std::optional<Reading>> read(NodeId mask, Sizes sizes) {
    const auto known = readings_.find({mask, sizes});
    if (known != readings_.end() && still_stands(known->second)) return known->second;
    RUNG_TRY(std::optional<Reading> reading, examined(mask, sizes));
    readings_[{mask, sizes}] = reading;
    return reading;
  }

 private:
  using Reads = Result<std::optional<Reading>>;

  Reads examined(NodeId mask, Sizes sizes) {
    if (is_constant(mask)) return read_table(mask, sizes);
    const NodeId source = without_broadcast(mask);
    if (graph_.as<Select>(source)) return read_selection(source, sizes);
    const auto* binary = graph_.as<Binary>(source);
    if (binary && binary->kind == BinaryKind::add) return read_sum(source, sizes);
    return std::optional<Reading>();
  }

  bool still_stands(const std::optional<Reading>& reading) const {
    return !reading || reading->rest == kNoNode || graph_[reading->rest].alive;
  }
  bool is_constant(NodeId id) const { return id < constant_.size() && constant_[id]; }

  // broadcast(x), reshape(x) with axes of 1 before  =>  x      an attention broadcasts its mask
  NodeId without_broadcast(NodeId x) const {
    while (graph_.as<Broadcast>(x) || graph_.as<Reshape>(x)) {
      const NodeId from = graph_[x].operands[0];
      const Shape &narrow = graph_.shape(from), &wide = graph_.shape(x);
      const int more = wide.rank() - narrow.rank();
      bool same = more >= 0;
      for (int axis = 0; same && axis < wide.rank(); ++axis)
        same = axis < more ? graph_.as<Broadcast>(x) || wide[axis] == 1
                           : graph_.as<Broadcast>(x) || wide[axis] == narrow[axis - more];
      if (!same) break;
      x = from;
    }
    return x;
  }

  // mask: zeros, and -inf outside a span  =>  the span
  // Where each query sees a key, a low number stands for -inf. Numbers beside zeros stay, and are read within the span.
  Reads read_table(NodeId mask, Sizes sizes) {
    Reads none = std::optional<Reading>();
    if (!is_table(mask, sizes)) return none;
    RUNG_TRY(const Tensor table, evaluate_constant(graph_, mask));
    const auto values = table.as<float>();
    const auto hides = [](float x) { return x <= kLow; };
    const auto keys = visible(sizes, values.size(), [&](size_t i) { return !hides(values[i]); });
    const auto span = keys ? keys->span() : std::nullopt;
    if (!span) return none;
    const bool numbers = std::ranges::any_of(values, [&](float x) { return hides(x) && !std::isinf(x); });
    if (numbers && !keys->every_query_sees()) return none;
    const bool zeros = std::ranges::all_of(values, [&](float x) { return x == 0 || hides(x); });
    if (!zeros && span->sees_all()) return none;
    return std::optional(Reading{*span, zeros ? kNoNode : mask});
  }

  // add(table, rest), add(rest, table)  =>  the table's span, and the rest
  // The table holds zeros and -inf; a low number would not hide a key from a query whose other keys the rest takes.
  Reads read_sum(NodeId sum, Sizes sizes) {
    for (size_t i : {size_t{0}, size_t{1}}) {
      const NodeId table = graph_[sum].operands[i], rest = graph_[sum].operands[1 - i];
      if (!is_constant(table) || !is_table(table, sizes)) continue;
      RUNG_TRY(const Tensor numbers, evaluate_constant(graph_, table));
      const auto values = numbers.as<float>();
      if (!std::ranges::all_of(values, [](float x) { return x == 0 || x == -INFINITY; })) continue;
      const auto keys = visible(sizes, values.size(), [&](size_t at) { return values[at] == 0; });
      if (const auto span = keys ? keys->span() : std::nullopt) return std::optional(Reading{*span, rest});
    }
    return std::optional<Reading>();
  }

  // select(and(table, other), x, -inf)  =>  the table's span, and select(other, x, -inf)
  // select(or(table, other), -inf, x)  =>  the same, where the table says what is hidden
  // select(broadcast(other), x, -inf)  =>  no limits, and select(other, x, -inf)      x is a number
  // A query without any key gets zeros from both; of a low number in place of -inf it would see all keys.
  Reads read_selection(NodeId select, Sizes sizes) {
    const std::vector<NodeId> operands = graph_[select].operands;
    const bool keeps = uniform_value(graph_, operands[2]) == -INFINITY;
    if (!keeps && uniform_value(graph_, operands[1]) != -INFINITY) return std::optional<Reading>();
    Condition condition;
    split(without_broadcast(operands[0]), keeps, condition);
    for (size_t i = 0; i < condition.parts.size(); ++i) {
      RUNG_TRY(const auto span, span_of_condition(condition.parts[i], keeps, sizes));
      if (!span) continue;
      condition.parts.erase(condition.parts.begin() + static_cast<std::ptrdiff_t>(i));
      return std::optional(Reading{*span, rest_of(condition, operands, keeps)});
    }
    const bool uniform = uniform_value(graph_, operands[keeps ? 1 : 2]).has_value();
    if (!uniform || !has_rows(select) || std::ranges::any_of(condition.parts, [&](NodeId x) { return has_rows(x); }))
      return std::optional<Reading>();
    return std::optional(Reading{KeySpan{}, rest_of(condition, operands, keeps)});
  }
  // Returns whether a value has an element for each query, and not one for all.
  bool has_rows(NodeId id) const { return graph_.shape(id).rank() > 1 && graph_.shape(id).back(1) != 1; }

  // The operands of a tree of `and`, or of `or` where it says what is hidden, without those that decide nothing.
  struct Condition {
    std::vector<NodeId> parts;
  };
  void split(NodeId id, bool keeps, Condition& condition) const {
    const auto* binary = graph_.as<Binary>(id);
    const BinaryKind kind = keeps ? BinaryKind::logical_and : BinaryKind::logical_or;
    if (uniform_value(graph_, id) == (keeps ? 1.0 : 0.0)) return;
    if (is_constant(id) || !binary || binary->kind != kind) return condition.parts.push_back(id);
    for (NodeId operand : graph_[id].operands) split(without_broadcast(operand), keeps, condition);
  }

  Result<std::optional<KeySpan>> span_of_condition(NodeId part, bool keeps, Sizes sizes) const {
    if (!is_constant(part) || !is_table(part, sizes)) return std::optional<KeySpan>();
    RUNG_TRY(const Tensor table, evaluate_constant(graph_, part));
    const auto said = table.as<bool>();
    const auto keys = visible(sizes, said.size(), [&](size_t i) { return said[i] == keeps; });
    return keys ? keys->span() : std::nullopt;
  }

  // Returns what the selection adds to the scores of visible keys; kNoNode: nothing.
  NodeId rest_of(const Condition& condition, const std::vector<NodeId>& operands, bool keeps) {
    const NodeId value = operands[keeps ? 1 : 2];
    const auto uniform = uniform_value(graph_, value);
    if (condition.parts.empty()) return uniform == 0.0 ? kNoNode : value;
    NodeId said = condition.parts[0];
    const BinaryKind kind = keeps ? BinaryKind::logical_and : BinaryKind::logical_or;
    for (size_t i = 1; i < condition.parts.size(); ++i) said = graph_.add(Binary{kind}, {said, condition.parts[i]});
    const NodeId shown = uniform ? number(static_cast<float>(*uniform)) : value, hidden = number(-INFINITY);
    return graph_.add(Select{}, {said, keeps ? shown : hidden, keeps ? hidden : shown}, graph_[said].label);
  }

  NodeId number(float value) { return graph_.literal("mask", Tensor::of<float>({}, {value})); }

  // Returns whether a value has an element for each query and key, and few enough to look at.
  bool is_table(NodeId id, Sizes sizes) const {
    const Shape& shape = graph_.shape(id);
    return shape.rank() >= 2 && shape.back(1) == sizes.queries && shape.back() == sizes.keys && sizes.queries > 0 &&
           sizes.keys > 0 && graph_.type(id).elements() <= kMostElements;
  }

  // Returns the table that `sees(i)` tells for the elements of [..., queries, keys]; nullopt: batches or heads differ.
  template <class Sees>
  static std::optional<VisibleKeys> visible(Sizes sizes, size_t elements, const Sees& sees) {
    VisibleKeys table{sizes.queries, sizes.keys, {}};
    table.seen.resize(static_cast<size_t>(sizes.queries * sizes.keys));
    for (size_t i = 0; i < elements; ++i) {
      uint8_t& seen = table.seen[i % table.seen.size()];
      if (i < table.seen.size()) seen = sees(i);
      if (seen != static_cast<uint8_t>(sees(i))) return std::nullopt;
    }
    return table;
  }

  Graph& graph_;
  std::vector<bool> constant_;
  std::map<std::pair<NodeId, Sizes>, std::optional<Reading>> readings_;
};

Sizes sizes_of(const Graph& graph, NodeId attention) {
  Sizes sizes{graph.shape(attention)[1], 0};
  const std::vector<NodeId>& operands = graph[attention].operands;
  for (size_t i = graph.as<Attention>(attention)->first_key(); i < operands.size(); i += 2)
    sizes.keys += graph.shape(operands[i])[1];
  return sizes;
}

class SpanTaker {
 public:
  SpanTaker(Graph& graph, PassContext& context) : graph_(graph), context_(context), reader_(graph) {}

  // attention(q, mask, k, v)  =>  attention(q, rest of the mask, k, v, span)      a kernel takes it
  Status take(NodeId id) {
    const auto* attention = graph_.as<Attention>(id);
    if (!attention || !attention->has_mask() || !attention->span.sees_all()) return {};
    Insertion here(graph_, id);
    Attention op = *attention;
    std::vector<NodeId> operands = graph_[id].operands;
    const size_t at = op.slots.before(AttentionSlot::mask);
    RUNG_TRY(const std::optional<Reading> reading, reader_.read(operands[at], sizes_of(graph_, id)));
    if (!reading) return {};
    op.span = reading->span;
    if (reading->rest == kNoNode) {
      op.slots = {};
      operands.erase(operands.begin() + static_cast<std::ptrdiff_t>(at));
    } else {
      operands[at] = reading->rest;
    }
    if (replace_if_kernel(graph_, context_, id, op, std::move(operands)))
      ++(op.span.sees_all() ? narrowed_ : spans_);
    else if (reading->rest != kNoNode)
      erase_unused(graph_, reading->rest);
    return {};
  }

  void tell() {
    if (spans_)
      context_.notes.add("{} keys by their places, and no others",
                         words::counted(spans_, "attention reads", "attentions read"));
    if (narrowed_)
      context_.notes.add("{} one row of a mask for all queries",
                         words::counted(narrowed_, "attention reads", "attentions read"));
  }

 private:
  Graph& graph_;
  PassContext& context_;
  SpanReader reader_;
  size_t spans_ = 0, narrowed_ = 0;
};

}  // namespace

Status recognise_spans(Graph& graph, PassContext& context) {
  SpanTaker taker(graph, context);
  for (NodeId id : graph.order())
    if (graph[id].alive) RUNG_CHECK(taker.take(id));
  taker.tell();
  return {};
}

}  // namespace rung::passes
