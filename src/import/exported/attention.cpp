// Attention and rotations of exported graphs.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "import/exported/emit.hpp"

namespace rung::exported {
namespace {

// [S,K]: 0 for the keys up to the query's own place, -inf behind it.
Tensor causal_mask(int64_t queries, int64_t keys) {
  if (queries > 0 && keys > kMostMade / queries) refuse("a mask of {} queries and {} keys", queries, keys);
  Tensor mask({DType::f32, {queries, keys}});
  auto values = mask.as<float>();
  for (int64_t i = 0; i < queries; ++i)
    for (int64_t j = i + 1; j < keys; ++j) values[static_cast<size_t>(i * keys + j)] = -INFINITY;
  return mask;
}

}  // namespace

// f32, 0 where a key is read and -inf where it is not, or the numbers that are added to the scores.
NodeId Emit::attention_mask(const AttentionCall& call) const {
  std::optional<NodeId> mask;
  if (call.mask && dtype(*call.mask) != DType::boolean) mask = cast(*call.mask, DType::f32);
  if (call.mask && !mask) mask = select(*call.mask, scalar(0, DType::f32), scalar(-INFINITY, DType::f32));
  if (!call.causal) return *mask;
  const NodeId causal = literal(causal_mask(shape(call.q)[2], shape(call.k)[2]));
  return mask ? binary(BinaryKind::add, *mask, causal) : causal;
}

NodeId Emit::attention(const AttentionCall& call) const {
  for (NodeId x : {call.q, call.k, call.v})
    if (rank(x) != 4) refuse("attention of {}, wanted [batch, heads, tokens, width]", type(x));
  std::optional<NodeId> mask;
  if (call.mask || call.causal) mask = attention_mask(call);
  if (call.softcap != 0 || shape(call.v)[3] != shape(call.q)[3]) return attention_as_written(call, mask);
  const double scale = call.scale.value_or(1 / std::sqrt(static_cast<double>(shape(call.q)[3])));
  Attention op{.scale = static_cast<float>(scale)};
  std::vector<NodeId> operands{swap_axes(call.q, 1, 2)};
  if (mask) op.slots.put(operands, AttentionSlot::mask, *mask);
  operands.push_back(swap_axes(call.k, 1, 2));
  operands.push_back(swap_axes(call.v, 1, 2));
  return swap_axes(add(op, operands), 1, 2);
}

// softmax(softcap tanh(scale q k' / softcap) + mask) v: no op has the bound of the scores, nor values of another width.
NodeId Emit::attention_as_written(const AttentionCall& call, std::optional<NodeId> mask) const {
  const int64_t heads = shape(call.q)[1], groups = shape(call.k)[1];
  if (groups < 1 || heads % groups) refuse("{} heads that share {} of keys", heads, groups);
  const auto for_all_heads = [&](NodeId x) {
    const Shape s = shape(x);
    if (heads == groups) return x;
    const NodeId repeated = broadcast(unsqueeze(x, 2), {s[0], s[1], heads / groups, s[2], s[3]});
    return reshape(repeated, Shape{s[0], heads, s[2], s[3]});
  };
  const double factor = call.scale.value_or(1 / std::sqrt(static_cast<double>(shape(call.q)[3])));
  NodeId scores = matmul(call.q, swap_axes(for_all_heads(call.k), 2, 3));
  scores = scale(cast(scores, DType::f32), factor);
  if (call.softcap != 0) scores = scale(unary(UnaryKind::tanh, scale(scores, 1 / call.softcap)), call.softcap);
  if (mask) scores = binary(BinaryKind::add, scores, *mask);
  return matmul(cast(softmax(scores, -1), dtype(call.v)), for_all_heads(call.v));
}

NodeId Emit::rotary(NodeId x, NodeId cos, NodeId sin, bool neighbours) const {
  const int64_t width = shape(x).back(), half = shape(cos).back();
  if (rank(x) == 0 || half < 1 || 2 * half > width || shape(sin) != shape(cos))
    refuse("a rotation of {} by {} and {}", type(x), type(cos), type(sin));
  if (2 * half < width) {
    const NodeId turned = rotary(slice(x, -1, 0, 2 * half), cos, sin, neighbours);
    return concat({turned, slice(x, -1, 2 * half, width)}, -1);
  }
  if (!neighbours) {
    const NodeId swapped = concat({unary(UnaryKind::neg, slice(x, -1, half, width)), slice(x, -1, 0, half)}, -1);
    return binary(BinaryKind::add, binary(BinaryKind::mul, x, concat({cos, cos}, -1)),
                  binary(BinaryKind::mul, swapped, concat({sin, sin}, -1)));
  }
  Shape pairs = shape(x);
  pairs[pairs.rank() - 1] = half;
  pairs.push_back(2);
  const NodeId apart = reshape(x, pairs), first = slice(apart, -1, 0, 1), second = slice(apart, -1, 1, 2);
  const NodeId c = unsqueeze(cos, -1), s = unsqueeze(sin, -1);
  const NodeId a = binary(BinaryKind::sub, binary(BinaryKind::mul, first, c), binary(BinaryKind::mul, second, s));
  const NodeId b = binary(BinaryKind::add, binary(BinaryKind::mul, second, c), binary(BinaryKind::mul, first, s));
  return reshape(concat({a, b}, -1), shape(x));
}

}  // namespace rung::exported
