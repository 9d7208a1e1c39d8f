// Writes what depends on the places of tokens.
// SPDX-License-Identifier: Apache-2.0
#include "import/huggingface/decoders/token_history.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "import/huggingface/input_rules.hpp"
#include "import/zeros.hpp"

namespace rung::huggingface {
namespace {

// Returns f(angle) of all tokens, f32[tokens,1,head width]: each pair of columns has one angle, in both halves; pairs
// without a frequency do not turn.
template <class Function>
Tensor table_of(const RotaryFrequencies& frequencies, const Shape& shape, Function f) {
  const std::vector<float>& inverse = frequencies.of(shape[0]);
  const auto half = static_cast<size_t>(shape[2] / 2);
  Tensor table({DType::f32, shape});
  auto values = table.as<float>();
  for (size_t token = 0; token < static_cast<size_t>(shape[0]); ++token)
    for (size_t pair = 0; pair < half; ++pair) {
      const bool turns = pair < inverse.size();
      const float angle = turns ? static_cast<float>(token) * inverse[pair] : 0.0f;
      const float value = static_cast<float>(f(double{angle})) * (turns ? frequencies.amplitude : 1.0f);
      const size_t lower = 2 * half * token + pair;
      values[lower] = values[lower + half] = value;
    }
  return table;
}

}  // namespace

TokenHistory::TokenHistory(ModelFrame& frame, const DecoderConfig& config, const DecoderChunk& chunk)
    : frame_(frame), w_(frame.builder), c_(config), cache_(chunk.cache), chunk_(chunk.tokens[1]) {
  tokens_ = add_token_input(frame.model, chunk.input, chunk.tokens, config.vocabulary);
  if (!remembers()) return;
  count_ = add_count_input(frame.model, "count", chunk_);
  position_ = declare_state("position", {DType::i64, {1}});
  length_ = w_.binary(BinaryKind::add, position_, w_.scalar(static_cast<double>(chunk_), DType::i64), "position");
}

// Its first value is zeros. The node of its next value is still to be set.
NodeId TokenHistory::declare_state(const std::string& name, const Type& type) {
  const std::string next = name + ".next";
  frame_.model.graph.add_state({name, next, std::make_shared<Zeros>(name, type)});
  next_.push_back({next, kNoNode});
  return frame_.model.graph.input(name, type);
}

// The position moves behind all that reads it, so that it moves where it stands.
void TokenHistory::write_states() {
  if (remembers()) next_.front().node = w_.binary(BinaryKind::add, position_, count_, "position");
  for (const Output& state : next_) frame_.model.graph.set_output(state.name, state.node);
}

// Returns where the chunk's tokens stand among that many slots, i64[S]. A place behind the cache is the error of the
// op that writes there; a ring has no such place.
NodeId TokenHistory::places(int64_t slots) {
  const auto [found, added] = places_.try_emplace(slots, kNoNode);
  if (!added) return found->second;
  Tensor counted({DType::i64, {chunk_}});
  const auto values = counted.as<int64_t>();
  std::iota(values.begin(), values.end(), int64_t{0});
  NodeId places = w_.binary(BinaryKind::add, position_, w_.graph.literal("positions", std::move(counted)), "positions");
  if (slots < cache_.length)
    places = w_.op(Formula{FormulaKind::floor_mod}, {places, w_.scalar(static_cast<double>(slots), DType::i64)},
                   "positions");
  return found->second = places;
}

NodeId TokenHistory::rows_of(NodeId table, const std::string& label, int64_t first) {
  if (!remembers()) return w_.op(Slice{.axis = 0, .begin = first, .end = first + chunk_}, {table}, label);
  NodeId rows = places(cache_.length);
  if (first != 0) rows = w_.binary(BinaryKind::add, rows, w_.scalar(static_cast<double>(first), DType::i64), label);
  return w_.op(Gather{.axis = 0}, {table, rows}, label);
}

const RotaryTables& TokenHistory::tables(const RotaryFrequencies& frequencies, const std::string& label) {
  const auto [found, added] = tables_.try_emplace(label);
  if (!added) return found->second;
  if (remembers() && chunk_ == 1) return found->second = tables_of_one(frequencies, label);
  const auto rows = [&](const std::string& name, double (*f)(double)) {
    const int64_t tokens = remembers() ? cache_.length : chunk_;
    const NodeId table = w_.graph.literal(label + name, table_of(frequencies, {tokens, 1, c_.head_width}, f));
    return remembers() ? rows_of(table, label) : table;
  };
  return found->second = {rows(".cos", std::cos), rows(".sin", std::sin)};
}

// One look-up gives both rows of one token.
RotaryTables TokenHistory::tables_of_one(const RotaryFrequencies& frequencies, const std::string& label) {
  const Shape one{cache_.length, 1, c_.head_width};
  const auto table = [&](const std::string& name, double (*f)(double)) {
    return w_.graph.literal(label + name, table_of(frequencies, one, f));
  };
  const NodeId both = w_.op(Concat{.axis = 1}, {table(".cos", std::cos), table(".sin", std::sin)}, label);
  const NodeId rows = rows_of(both, label);
  const auto row = [&](int64_t i) { return w_.op(Slice{.axis = 1, .begin = i, .end = i + 1}, {rows}, label); };
  return {row(0), row(1)};
}

// Writes keys or values of the chunk, T[1,S,G,D], among those of the tokens before it, and returns all, T[1,slots,G,D].
NodeId TokenHistory::remembered(const std::string& name, NodeId chunk, int64_t slots) {
  const Type& type = w_.graph.type(chunk);
  const Shape rows{chunk_, type.shape[2], type.shape[3]}, all{slots, type.shape[2], type.shape[3]};
  const NodeId before = declare_state(name, {type.dtype, all});
  const NodeId after = w_.op(Scatter{}, {before, places(slots), w_.reshape(chunk, rows, name)}, name);
  next_.back().node = after;
  return w_.reshape(after, {1, slots, all[1], all[2]}, name);
}

NodeId TokenHistory::attend(size_t layer, const Projections& heads, const std::string& label, NodeId bias) {
  Attention op{.scale = c_.attention_scale, .softcap = c_.attention_cap};
  op.span.after = 0;
  const int64_t window = c_.layers[layer].window;
  if (!remembers()) {
    if (window > 0 && window < chunk_) op.span.before = window - 1;
    std::vector<NodeId> operands{heads.q, heads.k, heads.v};
    if (bias != kNoNode) op.slots.put(operands, AttentionSlot::mask, bias);
    return w_.op(op, std::move(operands), label);
  }
  // A ring keeps what the first token of the largest chunk sees until the last one is written.
  const bool slides = window > 0 && window + cache_.largest_chunk < cache_.length;
  const int64_t slots = slides ? window + cache_.largest_chunk : cache_.length;
  if (window > 0 && window < cache_.length) op.span.before = window - 1;
  std::vector<NodeId> operands{heads.q, remembered(fmt::format("keys.{}", layer), heads.k, slots),
                               remembered(fmt::format("values.{}", layer), heads.v, slots)};
  if (bias == kNoNode) {
    op.slots.put(operands, AttentionSlot::length, length_);
  } else {
    op.span = {};
    op.slots.put(operands, AttentionSlot::mask, bias);
  }
  return w_.op(op, std::move(operands), label);
}

NodeId TokenHistory::asked(NodeId hidden) {
  if (!remembers() || chunk_ == 1) return hidden;
  const Shape shape = w_.graph.shape(hidden);
  const NodeId rows = w_.reshape(hidden, {shape[1], shape[2]}, "last_token");
  if (chunk_ <= cache_.scored_chunk) return rows;
  const NodeId last = w_.binary(BinaryKind::sub, count_, w_.scalar(1, DType::i64), "last_token");
  return w_.op(Gather{.axis = 0}, {rows, last}, "last_token");
}

NodeId TokenHistory::by_token(NodeId result) {
  const Shape shape = w_.graph.shape(result);
  return remembers() && shape.rank() == 3 ? w_.reshape(result, {shape[1], shape[2]}, "last_token") : result;
}

}  // namespace rung::huggingface
