// ONNX Runtime's attentions that project their input to queries, keys and values, by floats or by quantised weights.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "import/onnx/heads.hpp"
#include "import/onnx/integer_sums.hpp"
#include "import/onnx/operators.hpp"
#include "import/onnx/quantised.hpp"

namespace rung::onnx::operators {
namespace {

using exported::refuse;

// Says by lengths [B], or by ends [B] and then begins [B]: which keys each row reads, [B,1,1,K].
NodeId within_lengths(const Call& call, NodeId lengths, int64_t batch, int64_t keys) {
  const int64_t count = call.shape(lengths)[0];
  if (count != batch && count != 2 * batch) refuse("lengths of {} for {} rows", call.type(lengths), batch);
  const NodeId places = call.counted(keys, 3, 4), whole = call.cast(lengths, DType::i64);
  const auto of = [&](int64_t begin) {
    return call.reshape(call.slice(whole, 0, begin, begin + batch), Shape{batch, 1, 1, 1});
  };
  const NodeId before_end = call.binary(BinaryKind::lt, places, of(0));
  if (count == batch) return before_end;
  return call.binary(BinaryKind::logical_and, before_end, call.binary(BinaryKind::ge, places, of(batch)));
}

// Returns what a mask adds to the scores: 0, or a low number for keys that are not read.
NodeId added_mask(const Call& call, NodeId mask, int64_t batch, int64_t keys) {
  NodeId reads = mask;
  if (call.rank(mask) == 1) {
    reads = within_lengths(call, mask, batch, keys);
  } else if (call.rank(mask) == 2 || call.rank(mask) == 3) {
    reads = call.binary(BinaryKind::gt, mask, call.scalar(0, call.dtype(mask)));
    reads = call.unsqueeze(reads, 1);
    if (call.rank(mask) == 2) reads = call.unsqueeze(reads, 1);
  } else {
    refuse("a mask of {}, wanted one to three axes", call.type(mask));
  }
  return call.select(reads, call.scalar(0, DType::f32),
                     call.scalar(call.number("mask_filter_value", -10000), DType::f32));
}

struct Operands {
  NodeId projected;  // [B,S,Q+K+V]
  std::optional<NodeId> mask, bias;
};

std::vector<int64_t> widths_of(const Call& call, NodeId projected) {
  const int64_t all = call.shape(projected).back();
  const auto widths = call.integers("qkv_hidden_sizes", {all / 3, all / 3, all / 3});
  if (widths.size() != 3 || widths[0] != widths[1] || std::ranges::min(widths) < 1 ||
      widths[0] + widths[1] + widths[2] != all)
    refuse("queries, keys and values of {}", call.type(projected));
  return widths;
}

Outputs attended_projections(const Call& call, const Operands& operands) {
  if (call.integer("do_rotary", 0) != 0) refuse("an attention that rotates");
  if (call.rank(operands.projected) != 3) refuse("an attention over {}", call.type(operands.projected));
  const int64_t heads = call.integer("num_heads"), batch = call.shape(operands.projected)[0];
  std::vector<NodeId> parts = call.split(operands.projected, -1, widths_of(call, operands.projected));
  for (NodeId& part : parts) part = heads_apart(call, part, heads);
  std::optional<NodeId> mask = operands.bias;
  if (operands.mask) {
    const NodeId added = added_mask(call, *operands.mask, batch, call.shape(parts[1])[2]);
    mask = mask ? call.binary(BinaryKind::add, call.cast(*mask, DType::f32), added) : added;
  }
  const double scale = call.number("scale", 0);
  const NodeId y = call.attention({.q = parts[0],
                                   .k = parts[1],
                                   .v = parts[2],
                                   .mask = mask,
                                   .scale = scale == 0 ? std::nullopt : std::optional(scale),
                                   .causal = call.integer("unidirectional", 0) != 0});
  Outputs results{heads_together(call, y)};
  if (call.node().outputs.size() > 1 && !call.node().outputs[1].empty())
    results.push_back(call.concat({call.unsqueeze(parts[1], 0), call.unsqueeze(parts[2], 0)}, 0));
  return results;
}

}  // namespace

// x, w, a bias of the projections, a mask, a cache, and what is added to the scores.
Outputs projected_attention(const Call& call) {
  if (call.has(4)) refuse("input 4: an attention with a cache");
  NodeId projected = call.matmul(call[0], call[1]);
  if (call.has(2)) projected = call.binary(BinaryKind::add, projected, call[2]);
  return attended_projections(call, {projected, call.optional(3), call.optional(5)});
}

// x, w, a bias, the scales of both, a mask, the zero points of both, and a cache.
Outputs quantised_attention(const Call& call) {
  if (call.has(8)) refuse("input 8: an attention with a cache");
  const NodeId sums = integer_product(call, integers_at(call, 0, 6), integers_at(call, 1, 7));
  const NodeId scales = call.cast(call[4], DType::f32);
  const NodeId w_scale = call.type(scales).elements() == 1 ? call.reshape(scales, Shape{}) : scales;
  const NodeId factor = call.binary(BinaryKind::mul, one_number(call, 3), w_scale);
  const NodeId y = call.binary(BinaryKind::mul, call.cast(sums, DType::f32), factor);
  return attended_projections(call,
                              {call.binary(BinaryKind::add, y, call.cast(call[2], DType::f32)), call.optional(5), {}});
}

}  // namespace rung::onnx::operators
