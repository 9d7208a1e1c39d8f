// Attention and rotary embeddings of ONNX graphs, of ONNX's own operators and of ONNX Runtime's.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "import/onnx/heads.hpp"
#include "import/onnx/operators.hpp"

namespace rung::onnx::operators {
namespace {

using exported::refuse;

std::optional<double> scale_of(const Call& call) {
  const double scale = call.number("scale", 0);
  return scale == 0 ? std::nullopt : std::optional(scale);
}

void refuse_inputs(const Call& call, std::initializer_list<std::pair<size_t, const char*>> unknown) {
  for (const auto& [input, what] : unknown)
    if (call.has(input)) refuse("input {}: an attention with {}", input, what);
}

// Rows of a table by the tokens' positions, [B,S] or the first of a row alone, for heads that stand at `heads_axis`.
NodeId angles(const Call& call, NodeId table, std::optional<NodeId> positions, int heads_axis) {
  return call.unsqueeze(positions ? call.gather(table, *positions, 0) : table, heads_axis);
}

struct Rotation {
  NodeId cos, sin;
  std::optional<NodeId> positions;
  bool neighbours;
};

// x: [B,S,H D] or [B,H,S,D]
NodeId rotated(const Call& call, NodeId x, const Rotation& how, int64_t heads) {
  const bool together = call.rank(x) == 3;
  NodeId apart = x;
  if (together) {
    const Shape s = call.shape(x);
    if (heads < 1) heads = s[2] / (2 * call.shape(how.cos).back());
    if (heads < 1 || s[2] % heads) refuse("{} heads of {}", heads, call.type(x));
    apart = call.reshape(x, Shape{s[0], s[1], heads, s[2] / heads});
  } else if (call.rank(x) != 4) {
    refuse("a rotation of {}, wanted 3 or 4 axes", call.type(x));
  }
  const int axis = together ? 2 : 1;
  const NodeId y = call.rotary(apart, call.cast(angles(call, how.cos, how.positions, axis), call.dtype(x)),
                               call.cast(angles(call, how.sin, how.positions, axis), call.dtype(x)), how.neighbours);
  return call.reshape(y, call.shape(x));
}

// Half of what turns: tables may be wider than it.
void want_width(const Call& call, NodeId table) {
  const int64_t width = call.integer("rotary_embedding_dim", 0);
  if (call.rank(table) == 0) refuse("a table of {}", call.type(table));
  if (width != 0 && call.shape(table).back() * 2 != width)
    refuse("rotary_embedding_dim {} with a table of {}", width, call.type(table));
}

}  // namespace

Outputs rotary(const Call& call) {
  want_width(call, call[1]);
  const Rotation how{call[1], call[2], call.optional(3), call.integer("interleaved", 0) != 0};
  return {rotated(call, call[0], how, call.integer("num_heads", 0))};
}

// Positions [B,S], or [1]: that of the first token.
Outputs contrib_rotary(const Call& call) {
  want_width(call, call[2]);
  if (call.integer("is_packed_batching", 0) != 0) refuse("packed batches");
  if (call.number("scale", 1) != 1) refuse("a rotation scaled by {}", call.number("scale", 1));
  NodeId positions = call[1];
  if (call.rank(positions) < 2) {
    const Shape s = call.shape(call[0]);
    const NodeId tokens = call.counted(s[s.rank() == 4 ? 2 : 1], 0, 1);
    positions = call.unsqueeze(call.binary(BinaryKind::add, tokens, call.cast(positions, DType::i64)), 0);
  }
  const Rotation how{call[2], call[3], positions, call.integer("interleaved", 0) != 0};
  return {rotated(call, call[0], how, call.integer("num_heads", 0))};
}

namespace {

struct Projected {
  NodeId q, k, v;  // [B,H,S,D]
};

// Returns the parts of packed heads [B,S,H,parts,D], each [B,S,H D].
std::vector<NodeId> unpacked(const Call& call, NodeId x, int64_t heads, int64_t parts) {
  const Shape s = call.shape(x);
  if (s.rank() != 5 || s[2] != heads || s[3] != parts)
    refuse("packed heads of {}, wanted [batch, tokens, {}, {}, size]", call.type(x), heads, parts);
  std::vector<NodeId> apart;
  for (const NodeId part : call.split(x, 3, std::vector<int64_t>(static_cast<size_t>(parts), 1)))
    apart.push_back(call.reshape(part, Shape{s[0], s[1], s[2] * s[4]}));
  return apart;
}

// Returns queries, keys and values [B,S,H D], or keys and values with heads apart [B,H,K,D], of what may be packed.
std::vector<NodeId> given_heads(const Call& call, int64_t heads) {
  if (!call.has(1)) {
    if (call.has(2)) refuse("values beside packed queries");
    return unpacked(call, call[0], heads, 3);
  }
  if (call.rank(call[0]) != 3) refuse("queries of {} beside keys, wanted 3 axes", call.type(call[0]));
  if (call.has(2)) return {call[0], call[1], call[2]};
  if (call.has(3)) refuse("a bias of packed keys");
  std::vector<NodeId> parts = unpacked(call, call[1], heads, 2);
  parts.insert(parts.begin(), call[0]);
  return parts;
}

Projected projected(const Call& call, int64_t heads) {
  const std::vector<NodeId> given = given_heads(call, heads);
  const NodeId q = given[0], k = given[1], v = given[2];
  if (call.rank(k) < 3 || call.rank(k) > 4) refuse("keys of {}, wanted 3 or 4 axes", call.type(k));
  const auto biased = [&](NodeId x, int64_t begin) {
    if (!call.has(3)) return x;
    return call.binary(BinaryKind::add, x, call.slice(call[3], 0, begin, begin + call.shape(x).back()));
  };
  const NodeId apart = heads_apart(call, biased(q, 0), heads);
  if (call.rank(k) == 4) return {apart, k, v};
  const int64_t width = call.shape(q).back();
  return {apart, heads_apart(call, biased(k, width), heads), heads_apart(call, biased(v, 2 * width), heads)};
}

// The scores take a bias, and a low number where the padding mask [B,K] is 0.
std::optional<NodeId> added(const Call& call, std::optional<NodeId> bias, std::optional<NodeId> padding) {
  if (!padding) return bias;
  if (call.rank(*padding) != 2) refuse("a padding mask of {}, wanted [batch, keys]", call.type(*padding));
  const NodeId reads = call.binary(BinaryKind::ne, *padding, call.scalar(0, call.dtype(*padding)));
  const double low = call.number("mask_filter_value", -10000);
  const NodeId mask = call.select(call.unsqueeze(call.unsqueeze(reads, 1), 1), call.scalar(0, DType::f32),
                                  call.scalar(low, DType::f32));
  return bias ? call.binary(BinaryKind::add, call.cast(*bias, DType::f32), mask) : mask;
}

}  // namespace

Outputs multi_head_attention(const Call& call) {
  refuse_inputs(call, {{6, "a cache"}, {7, "a cache"}, {8, "the length of a cache"}, {9, "an indirect cache"}});
  const Projected heads = projected(call, call.integer("num_heads"));
  return {heads_together(call, call.attention({.q = heads.q,
                                               .k = heads.k,
                                               .v = heads.v,
                                               .mask = added(call, call.optional(5), call.optional(4)),
                                               .scale = scale_of(call),
                                               .causal = call.integer("unidirectional", 0) != 0}))};
}

namespace {

// Which keys a query reads that has its own place among them, [S,S]: those up to it, of the last `window` (-1: all).
Tensor local_mask(int64_t tokens, int64_t window) {
  if (tokens > 0 && tokens > exported::kMostMade / tokens) refuse("a mask of {} tokens", tokens);
  Tensor mask({DType::boolean, {tokens, tokens}});
  for (int64_t i = 0; i < tokens; ++i)
    for (int64_t j = 0; j <= i; ++j)
      mask.as<bool>()[static_cast<size_t>(i * tokens + j)] = window < 0 || i - j < window;
  return mask;
}

// f32 [B or 1,1,S,S] and what the call adds. Keys behind a row's last, whose place its lengths say, are read by none.
NodeId grouped_mask(const Call& call, int64_t tokens) {
  NodeId reads = call.literal(local_mask(tokens, call.integer("local_window_size", -1)));
  const NodeId last = call.reshape(call.cast(call[5], DType::i64), std::vector<int64_t>{-1, 1, 1, 1});
  const auto known = call.value_of(last);
  const bool all = known && std::ranges::all_of(known->as<int64_t>(), [=](int64_t at) { return at == tokens - 1; });
  if (!all)
    reads = call.binary(BinaryKind::logical_and, reads, call.binary(BinaryKind::le, call.counted(tokens, 0, 1), last));
  const NodeId mask = call.select(reads, call.scalar(0, DType::f32), call.scalar(-INFINITY, DType::f32));
  return call.has(10) ? call.binary(BinaryKind::add, call.cast(call[10], DType::f32), mask) : mask;
}

}  // namespace

// The whole of a prompt: query, key and value [B,S,H D] or packed into the query. Rows of padding, whose results ONNX
// Runtime leaves open, read what their row's tokens read.
Outputs group_query_attention(const Call& call) {
  refuse_inputs(call, {{3, "a cache"}, {4, "a cache"}, {11, "scores of its own"}});
  if (call.integer("smooth_softmax", 0) != 0) refuse("a smooth softmax");
  const int64_t heads = call.integer("num_heads"), groups = call.integer("kv_num_heads");
  constexpr int64_t kMostHeads = 1 << 20;
  if (call.rank(call[0]) != 3 || heads < 1 || heads > kMostHeads || groups < 1 || groups > kMostHeads)
    refuse("{} heads that share {} of keys in {}", heads, groups, call.type(call[0]));
  std::vector<NodeId> parts{call[0]};
  if (call.has(1)) {
    parts.insert(parts.end(), {call[1], call[2]});
  } else {
    const int64_t width = call.shape(call[0]).back() / (heads + 2 * groups);
    parts = call.split(call[0], -1, {heads * width, groups * width, groups * width});
  }
  for (size_t i = 0; i < parts.size(); ++i) parts[i] = heads_apart(call, parts[i], i == 0 ? heads : groups);
  const int64_t tokens = call.shape(parts[0])[2];
  if (call.shape(parts[1])[2] != tokens) refuse("{} queries and {} keys", tokens, call.shape(parts[1])[2]);
  if (call.integer("do_rotary", 0) != 0) {
    const NodeId positions =
        call.has(9) ? call.cast(call[9], DType::i64) : call.unsqueeze(call.counted(tokens, 0, 1), 0);
    const Rotation how{call[7], call[8], positions, call.integer("rotary_interleaved", 0) != 0};
    for (size_t i : {size_t{0}, size_t{1}}) parts[i] = rotated(call, parts[i], how, 0);
  }
  const NodeId y = call.attention({.q = parts[0],
                                   .k = parts[1],
                                   .v = parts[2],
                                   .mask = grouped_mask(call, tokens),
                                   .scale = scale_of(call),
                                   .softcap = call.number("softcap", 0)});
  return {heads_together(call, y), parts[1], parts[2]};
}

}  // namespace rung::onnx::operators
