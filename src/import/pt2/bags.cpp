// Bags of rows of a table, each joined to one row: torch.nn.EmbeddingBag.
// SPDX-License-Identifier: Apache-2.0
#include "import/pt2/operators.hpp"

namespace rung::pt2::operators {
namespace {

using exported::refuse;

enum Mode : int64_t { kSum, kMean, kMax };

struct Bags {
  NodeId of_index;  // i64[N]: the bag of each index
  int64_t count;
};

// A bag begins at each offset. With `include_last_offset` the last one is where the last bag ends.
Bags bags_of(const Call& call, int64_t indices) {
  const NodeId offsets = call.cast(call.tensor("offsets"), DType::i64);
  const int64_t count = call.type(offsets).elements() - (call.flag("include_last_offset") ? 1 : 0);
  if (call.rank(offsets) != 1 || count < 0) refuse("offsets of {}, wanted one axis", call.type(offsets));
  const NodeId starts = call.reshape(call.slice(offsets, 0, 0, count), Shape{1, count});
  const NodeId is_behind = call.binary(BinaryKind::ge, call.counted(indices, 0, 2), starts);
  const NodeId begun = call.reduce(ReduceKind::sum, call.cast(is_behind, DType::i64), {1}, false);
  return {call.binary(BinaryKind::sub, begun, call.scalar(1, DType::i64)), count};
}

}  // namespace

// The sum, the mean or the largest of the rows that each bag names; a bag without rows gives zeros. Rows of the index
// `padding_idx` do not count. What else the operator returns is for gradients.
Values embedding_bag(const Call& call) {
  const NodeId table = call.tensor("weight"), indices = call.cast(call.tensor("indices"), DType::i64);
  if (call.rank(table) != 2 || call.rank(indices) != 1)
    refuse("indices of {} in a table of {}, wanted one axis and two", call.type(indices), call.type(table));
  const int64_t mode = call.integer("mode", kSum), n = call.type(indices).elements(), width = call.shape(table)[1];
  if (mode < kSum || mode > kMax) refuse("mode: got {}, wanted 0 (sum), 1 (mean) or 2 (max)", mode);
  const Bags bags = bags_of(call, n);
  NodeId rows = call.gather(table, indices, 0);
  if (mode != kMax) rows = call.cast(rows, DType::f32);  // sums are rounded once
  if (const auto weights = call.optional_tensor("per_sample_weights"))
    rows = call.binary(BinaryKind::mul, rows, call.unsqueeze(call.cast(*weights, call.dtype(rows)), -1));
  NodeId is_counted = call.broadcast(call.scalar(1, DType::f32), Shape{n});
  if (const int64_t padding = call.integer("padding_idx", -1); padding >= 0) {
    const NodeId is_read = call.binary(BinaryKind::ne, indices, call.scalar(static_cast<double>(padding), DType::i64));
    is_counted = call.cast(is_read, DType::f32);
    const double neutral = mode == kMax ? exported::least_of(call.dtype(rows)) : 0;
    rows = call.select(call.unsqueeze(is_read, -1), rows, call.scalar(neutral, call.dtype(rows)));
  }
  const auto joined = [&](ScatterKind kind, NodeId values, double start) {
    Shape to = call.shape(values);
    to[0] = bags.count;
    return call.scatter(kind, call.broadcast(call.scalar(start, call.dtype(values)), to), bags.of_index, values);
  };
  NodeId y = mode == kMax ? joined(ScatterKind::max, rows, exported::least_of(call.dtype(rows)))
                          : joined(ScatterKind::add, rows, 0);
  if (mode != kSum) {
    const NodeId counts = call.reshape(joined(ScatterKind::add, is_counted, 0), Shape{bags.count, 1});
    if (mode == kMean) y = call.binary(BinaryKind::div, y, call.clamp(counts, 1, std::nullopt));
    const NodeId is_filled = call.binary(BinaryKind::gt, counts, call.scalar(0, DType::f32));
    if (mode == kMax) y = call.select(is_filled, y, call.scalar(0, call.dtype(y)));
  }
  const NodeId result = call.broadcast(call.cast(y, call.dtype(table)), Shape{bags.count, width});
  return {Value(NodeRef{result}), Value(), Value(), Value()};
}

}  // namespace rung::pt2::operators
