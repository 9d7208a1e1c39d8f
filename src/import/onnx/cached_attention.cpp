// ONNX's own Attention with all of its inputs and results: caches, lengths of keys, windows, and scores as a result.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "import/onnx/heads.hpp"
#include "import/onnx/operators.hpp"
#include "import/onnx/tensors.hpp"

namespace rung::onnx::operators {
namespace {

using exported::refuse;

struct Parts {
  NodeId q, k, v;  // [B,H,S,D], [B,G,K,D], [B,G,K,Dv]
};

NodeId apart_by(const Call& call, NodeId x, const char* attribute) {
  return call.rank(x) == 4 ? x : heads_apart(call, x, call.integer(attribute));
}

Parts parts_of(const Call& call) {
  Parts parts{apart_by(call, call[0], "q_num_heads"), apart_by(call, call[1], "kv_num_heads"),
              apart_by(call, call[2], "kv_num_heads")};
  if (call.has(4) != call.has(5)) refuse("a cache of keys or of values, wanted both or none");
  if (call.has(4) && call.has(6)) refuse("a cache together with lengths of keys");
  if (call.has(4)) {
    parts.k = call.concat({call[4], parts.k}, 2);
    parts.v = call.concat({call[5], parts.v}, 2);
  }
  return parts;
}

// Each query's place among the keys: i64 [S,1], or [B,1,S,1] where lengths of keys say the offset.
NodeId places_of_queries(const Call& call, const Parts& parts) {
  const int64_t queries = call.shape(parts.q)[2];
  const NodeId own = call.counted(queries, 0, 2);
  const auto number = [&](int64_t value) { return call.scalar(static_cast<double>(value), DType::i64); };
  if (call.has(4)) return call.binary(BinaryKind::add, own, number(call.shape(call[4])[2]));
  if (!call.has(6)) return own;
  const NodeId lengths = call.reshape(call.cast(call[6], DType::i64), std::vector<int64_t>{-1, 1, 1, 1});
  return call.binary(BinaryKind::add, own, call.binary(BinaryKind::sub, lengths, number(queries)));
}

// Which keys a query reads by its place and by lengths; none: all.
std::optional<NodeId> readable(const Call& call, const Parts& parts) {
  const int64_t keys = call.shape(parts.k)[2];
  const int64_t left = call.integer("left_window_size", -1), right = call.integer("right_window_size", -1);
  if (left < -1 || right < -1) refuse("windows of {} and {}, wanted -1 or more", left, right);
  if (keys > 0 && call.shape(parts.q)[2] > exported::kMostMade / keys) refuse("a mask of {} keys", keys);
  const NodeId key = call.counted(keys, 1, 2);
  std::optional<NodeId> reads;
  const auto also = [&](NodeId condition) {
    reads = reads ? call.binary(BinaryKind::logical_and, *reads, condition) : condition;
  };
  const auto moved = [&](NodeId place, int64_t by) {
    return call.binary(BinaryKind::add, place, call.scalar(static_cast<double>(by), DType::i64));
  };
  const NodeId place = places_of_queries(call, parts);
  if (call.integer("is_causal", 0) != 0) also(call.binary(BinaryKind::le, key, place));
  if (left >= 0) also(call.binary(BinaryKind::ge, key, moved(place, -std::min(left, keys))));
  if (right >= 0) also(call.binary(BinaryKind::le, key, moved(place, std::min(right, keys))));
  if (call.has(6)) {
    const NodeId lengths = call.reshape(call.cast(call[6], DType::i64), std::vector<int64_t>{-1, 1, 1, 1});
    also(call.binary(BinaryKind::lt, key, lengths));
  }
  return reads;
}

// f32: what is added to the scores; a mask that is shorter than the keys hides those behind it.
std::optional<NodeId> mask_of(const Call& call, const Parts& parts) {
  const NodeId zero = call.scalar(0, DType::f32), none = call.scalar(-INFINITY, DType::f32);
  std::optional<NodeId> mask;
  if (call.has(3)) {
    const NodeId given = call[3];
    mask = call.dtype(given) == DType::boolean ? call.select(given, zero, none) : call.cast(given, DType::f32);
    if (call.rank(*mask) == 0) mask = call.unsqueeze(*mask, 0);
    const int64_t width = call.shape(*mask).back(), keys = call.shape(parts.k)[2];
    if (width != 1 && width < keys) mask = call.padded(*mask, -1, 0, keys - width, -INFINITY);
  }
  if (const auto reads = readable(call, parts)) mask = call.select(*reads, mask.value_or(zero), none);
  return mask;
}

NodeId for_all_heads(const Call& call, NodeId x, int64_t heads) {
  const Shape s = call.shape(x);
  if (s[1] == heads) return x;
  if (s[1] < 1 || heads % s[1]) refuse("{} heads that share {} of keys", heads, s[1]);
  const NodeId repeated = call.broadcast(call.unsqueeze(x, 2), {s[0], s[1], heads / s[1], s[2], s[3]});
  return call.reshape(repeated, Shape{s[0], heads, s[2], s[3]});
}

// Rows without a key that is read become 0.
NodeId probabilities(const Call& call, NodeId scores) {
  const NodeId most = call.reduce(ReduceKind::max, scores, {-1}, true);
  const NodeId is_empty = call.binary(BinaryKind::eq, most, call.scalar(-INFINITY, DType::f32));
  const NodeId zero = call.scalar(0, DType::f32);
  return call.select(is_empty, zero, call.softmax(call.select(is_empty, zero, scores), -1));
}

struct Written {
  NodeId y, scores;
};

// As the standard writes it, with the scores that `mode` asks for: raw, bounded, masked, or as probabilities.
Written as_written(const Call& call, const Parts& parts, std::optional<NodeId> mask) {
  const int64_t heads = call.shape(parts.q)[1], mode = call.integer("qk_matmul_output_mode", 0);
  if (mode < 0 || mode > 3) refuse("qk_matmul_output_mode: got {}, wanted 0 to 3", mode);
  const double width = static_cast<double>(call.shape(parts.q)[3]), cap = call.number("softcap", 0);
  const double scale = call.number("scale", static_cast<float>(1 / std::sqrt(width)));
  const NodeId keys = call.swap_axes(for_all_heads(call, parts.k, heads), 2, 3);
  std::vector<NodeId> steps{call.scale(call.cast(call.matmul(parts.q, keys), DType::f32), scale)};
  steps.push_back(cap == 0 ? steps[0] : call.scale(call.unary(UnaryKind::tanh, call.scale(steps[0], 1 / cap)), cap));
  steps.push_back(mask ? call.binary(BinaryKind::add, steps[1], *mask) : steps[1]);
  steps.push_back(probabilities(call, steps[2]));
  const DType type = call.dtype(parts.v);
  const NodeId y = call.matmul(call.cast(steps[3], type), for_all_heads(call, parts.v, heads));
  return {y, call.cast(steps[static_cast<size_t>(mode)], call.dtype(parts.q))};
}

bool has_result(const Call& call, size_t i) {
  return i < call.node().outputs.size() && !call.node().outputs[i].empty();
}

}  // namespace

// Heads apart, [B,H,S,D], or side by side, [B,S,H D].
Outputs attention(const Call& call) {
  if (const int64_t type = call.integer("softmax_precision", 1)) value_or_throw(dtype_of_number(type));
  const Parts parts = parts_of(call);
  for (const NodeId x : {parts.q, parts.k, parts.v})
    if (call.rank(x) != 4) refuse("attention of {}, wanted [batch, heads, tokens, width]", call.type(x));
  const auto mask = mask_of(call, parts);
  const bool writes =
      has_result(call, 3) || call.number("softcap", 0) != 0 || call.shape(parts.v)[3] != call.shape(parts.q)[3];
  Written made{kNoNode, kNoNode};
  if (writes) {
    made = as_written(call, parts, mask);
  } else {
    const double scale = call.number("scale", 0);
    made.y = call.attention({.q = parts.q,
                             .k = parts.k,
                             .v = parts.v,
                             .mask = mask,
                             .scale = scale == 0 ? std::nullopt : std::optional(scale)});
  }
  return {call.rank(call[0]) == 4 ? made.y : heads_together(call, made.y), parts.k, parts.v, made.scores};
}

}  // namespace rung::onnx::operators
