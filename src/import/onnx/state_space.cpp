// Operators of ONNX graphs that carry a state from token to token: linear attention, and convolutions over the past.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "import/onnx/operators.hpp"

namespace rung::onnx::operators {
namespace {

using exported::refuse;

constexpr int64_t kMostTokens = 1 << 12;

// [B,T,H D] -> f32 [B,H,T,D]
NodeId heads_of(const Call& call, NodeId x, int64_t heads) {
  const Shape s = call.shape(x);
  if (s.rank() != 3 || heads < 1 || s[2] % heads) refuse("{} heads of {}", heads, call.type(x));
  const NodeId wide = call.cast(x, DType::f32);
  return call.swap_axes(call.reshape(wide, Shape{s[0], s[1], heads, s[2] / heads}), 1, 2);
}

struct Rule {
  bool gates, corrects;
};

Rule rule_of(const Call& call) {
  const std::string word = call.text("update_rule", "gated_delta");
  const Rule rule{word.starts_with("gated"), word.ends_with("delta")};
  if (word != "linear" && !rule.gates && !rule.corrects) refuse("update_rule: got '{}'", word);
  if (rule.gates != call.has(4) || rule.corrects != call.has(5))
    refuse("update_rule '{}' with{} decay and with{} beta", word, call.has(4) ? "" : "out", call.has(5) ? "" : "out");
  return rule;
}

}  // namespace

// A state S [B,G,Dk,Dv] for each head of keys, which each token decays, corrects, writes to and reads:
//   S = exp(decay) S; v = beta (v - S' k); S = S + k v'; y = scale S' q
Outputs linear_attention(const Call& call) {
  const int64_t heads = call.integer("q_num_heads"), groups = call.integer("kv_num_heads");
  const Rule rule = rule_of(call);
  if (groups < 1 || heads < 1 || heads % groups) refuse("{} heads that share {} of keys", heads, groups);
  const NodeId q = heads_of(call, call[0], heads), k = heads_of(call, call[1], groups);
  const NodeId v = heads_of(call, call[2], groups);
  const int64_t batch = call.shape(q)[0], tokens = call.shape(q)[2], width = call.shape(q)[3];
  if (tokens < 1 || tokens > kMostTokens) refuse("{} tokens, wanted 1 to {}", tokens, kMostTokens);
  const DType kept = call.has(3) ? call.dtype(call[3]) : call.dtype(call[0]);
  NodeId state = call.has(3) ? call.cast(call[3], DType::f32)
                             : call.broadcast(call.scalar(0, DType::f32), {batch, groups, width, call.shape(v)[3]});
  std::optional<NodeId> decay, beta;
  if (rule.gates) decay = heads_of(call, call[4], groups);
  if (rule.corrects) beta = heads_of(call, call[5], call.shape(call[5]).back());
  const double scale = call.number("scale", 0);
  const auto mul = [&](NodeId a, NodeId b) { return call.binary(BinaryKind::mul, a, b); };
  const auto token = [&](NodeId x, int64_t i) { return call.slice(x, 2, i, i + 1); };  // [B,H,1,D]
  const auto column = [&](NodeId x, int64_t i) { return call.swap_axes(token(x, i), 2, 3); };
  std::vector<NodeId> rows;
  for (int64_t i = 0; i < tokens; ++i) {
    NodeId value = token(v, i);
    if (decay) state = mul(state, call.unary(UnaryKind::exp, column(*decay, i)));
    if (beta) value = mul(token(*beta, i), call.binary(BinaryKind::sub, value, call.matmul(token(k, i), state)));
    state = call.binary(BinaryKind::add, state, mul(column(k, i), value));
    NodeId read = call.unsqueeze(state, 2);
    const Shape s = call.shape(state);
    read =
        call.reshape(call.broadcast(read, {s[0], groups, heads / groups, s[2], s[3]}), Shape{s[0], heads, s[2], s[3]});
    rows.push_back(
        call.scale(call.matmul(token(q, i), read), scale == 0 ? 1 / std::sqrt(static_cast<double>(width)) : scale));
  }
  const NodeId y = call.swap_axes(call.concat(rows, 2), 1, 2);
  const NodeId together = call.reshape(y, Shape{batch, tokens, heads * call.shape(v)[3]});
  return {call.cast(together, call.dtype(call[0])), call.cast(state, kept)};
}

// A sum over the last k tokens for each channel, of which the state has those before x. x: [B,C,T], weight: [C,1,k].
Outputs causal_conv_with_state(const Call& call) {
  const NodeId x = call[0], weight = call[1];
  if (call.rank(x) != 3 || call.rank(weight) != 3) refuse("{} with a weight of {}", call.type(x), call.type(weight));
  const int64_t taps = call.shape(weight)[2], tokens = call.shape(x)[2], channels = call.shape(x)[1];
  if (taps < 1 || taps > kMostTokens || call.shape(weight)[0] != channels || call.shape(weight)[1] != 1)
    refuse("a weight of {} for {}", call.type(weight), call.type(x));
  const NodeId all = call.has(3) ? call.concat({call[3], x}, 2) : call.padded(x, 2, taps - 1, 0, 0);
  if (call.shape(all)[2] != tokens + taps - 1) refuse("a state of {} for {} taps", call.type(call[3]), taps);
  std::optional<NodeId> sum;
  for (int64_t i = 0; i < taps; ++i) {
    const NodeId tap = call.cast(call.reshape(call.slice(weight, 2, i, i + 1), Shape{channels, 1}), DType::f32);
    const NodeId term = call.binary(BinaryKind::mul, call.cast(call.slice(all, 2, i, i + tokens), DType::f32), tap);
    sum = sum ? call.binary(BinaryKind::add, *sum, term) : term;
  }
  if (call.has(2))
    sum = call.binary(BinaryKind::add, *sum, call.cast(call.reshape(call[2], Shape{channels, 1}), DType::f32));
  const std::string word = call.text("activation", "none");
  if (word != "none" && word != "silu" && word != "swish") refuse("activation: got '{}', wanted none or silu", word);
  NodeId y = call.cast(*sum, call.dtype(x));
  if (word != "none") y = call.unary(UnaryKind::silu, y);
  return {y, call.slice(all, 2, tokens, tokens + taps - 1)};
}

}  // namespace rung::onnx::operators
