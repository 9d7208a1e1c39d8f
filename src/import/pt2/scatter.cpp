// Operators of exported programs that put elements at places, and that order them.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "import/pt2/operators.hpp"
#include "import/pt2/places.hpp"

namespace rung::pt2 {

using exported::refuse;

namespace {

// x with an axis in another place.
NodeId moved(const Call& call, NodeId x, int from, int to) {
  Dims order;
  for (int i = 0; i < call.rank(x); ++i)
    if (i != from) order.push_back(i);
  order.insert(to, from);
  return call.transpose(x, order);
}

}  // namespace

NodeId elements_written(const Call& call, ScatterKind kind, NodeId x, NodeId updates) {
  const NodeId indices = call.tensor("index");
  const Shape to = call.shape(indices);
  if (call.rank(updates) == 0) updates = call.broadcast(updates, to);
  if (call.rank(updates) != to.rank()) refuse("updates of {} at {}", call.type(updates), call.type(indices));
  for (int i = 0; i < to.rank(); ++i) {
    if (call.shape(updates)[i] < to[i]) refuse("updates of {} at {}", call.type(updates), call.type(indices));
    updates = call.slice(updates, i, 0, to[i]);
  }
  const NodeId places = call.element_places(x, indices, call.integer("dim"));
  const NodeId y = call.scatter(kind, call.flat(x), call.flat(places), call.flat(call.cast(updates, call.dtype(x))));
  return call.reshape(y, call.shape(x));
}

NodeId rows_written(const Call& call, ScatterKind kind, NodeId x, NodeId updates) {
  const int at = call.axis(x, call.integer("dim"));
  const NodeId indices = call.flat(call.counted_from_front(call.tensor("index"), call.shape(x)[at]));
  Shape wanted = call.shape(x);
  wanted[at] = call.type(indices).elements();
  updates = call.broadcast(call.cast(updates, call.dtype(x)), wanted);
  const NodeId written = call.scatter(kind, moved(call, x, at, 0), indices, moved(call, updates, at, 0));
  return moved(call, written, 0, at);
}

namespace operators {
namespace {

Values scattered(const Call& call, ScatterKind kind, NodeId updates) {
  return one(elements_written(call, kind, call.tensor("self"), updates));
}

}  // namespace

Values scatter(const Call& call) {
  const NodeId x = call.tensor("self");
  return scattered(call, ScatterKind::set, call.has("src") ? call.tensor("src") : call.tensor_or_number("value", x));
}
Values scatter_add(const Call& call) { return scattered(call, ScatterKind::add, call.tensor("src")); }

namespace {

// The k-th row of x, whose axes are the mask's, where the mask is true, becomes the k-th row of the values.
Values put_by_mask(const Call& call, NodeId mask) {
  const NodeId x = call.tensor("self"), values = call.cast(call.tensor("values"), call.dtype(x));
  if (call.flag("accumulate")) refuse("values added by a mask");
  const int rows = call.rank(mask), rest = call.rank(x) - rows;
  if (rest < 0 || rows == 0) refuse("a mask of {} for {}", call.type(mask), call.type(x));
  NodeId chosen = mask;
  for (int i = 0; i < rest; ++i) chosen = call.unsqueeze(chosen, -1);
  if (call.rank(values) <= rest || call.shape(values)[call.rank(values) - rest - 1] == 1) {
    const NodeId row = call.rank(values) <= rest ? values : call.squeeze(values, {call.rank(values) - rest - 1});
    return one(call.select(chosen, call.broadcast(row, call.shape(x)), x));
  }
  if (call.rank(values) != rest + 1) refuse("values of {} for the rows of {}", call.type(values), call.type(x));
  const int64_t count = call.shape(values)[0];
  if (count == 0) return one(x);
  const NodeId truths = call.cast(call.flat(mask), DType::i64);
  const NodeId before = call.binary(BinaryKind::sub, call.add(CumSum{0}, {truths}), call.scalar(1, DType::i64));
  const NodeId row = call.clamp(before, 0, static_cast<double>(std::max<int64_t>(0, count - 1)));
  const NodeId taken = call.Emit::gather(values, call.reshape(row, call.shape(mask)), 0);
  return one(call.select(chosen, call.broadcast(taken, call.shape(x)), x));
}

}  // namespace

// Values at indices of axes that stand together, which broadcast; other axes stay. A mask names the places where it is
// true.
Values index_put(const Call& call) {
  const NodeId x = call.tensor("self");
  const auto indices = call.optional_tensors("indices");
  if (indices.empty() || indices.size() > static_cast<size_t>(call.rank(x)))
    refuse("got {} indices of {}", indices.size(), call.type(x));
  if (indices.size() == 1 && indices[0] && call.dtype(*indices[0]) == DType::boolean)
    return put_by_mask(call, *indices[0]);
  const auto first = std::ranges::find_if(indices, [](const auto& index) { return index.has_value(); });
  const auto before = static_cast<int>(first - indices.begin());  // axes that stay, counted like those with indices
  int broadcast_rank = 0;
  for (const auto& index : indices) broadcast_rank = std::max(broadcast_rank, index ? call.rank(*index) : 0);
  const int rank = before + broadcast_rank + call.rank(x) - static_cast<int>(indices.size());
  if (rank > Dims::kMaxRank) refuse("values of {} axes, wanted at most {}", rank, Dims::kMaxRank);
  NodeId place = call.scalar(0, DType::i64);
  int64_t together = 1;
  Shape rows, rest;
  for (int i = 0; i < call.rank(x); ++i) {
    const int64_t extent = call.shape(x)[i];
    if (static_cast<size_t>(i) >= indices.size()) {
      rest.push_back(extent);
      continue;
    }
    const auto index =
        i < before ? std::optional(call.counted(extent, i, before + broadcast_rank)) : indices[static_cast<size_t>(i)];
    if (!index || call.dtype(*index) == DType::boolean) refuse("an axis without indices between those with some");
    const NodeId at = call.counted_from_front(call.cast(*index, DType::i64), extent);
    const NodeId scaled = call.binary(BinaryKind::mul, place, call.scalar(static_cast<double>(extent), DType::i64));
    place = call.binary(BinaryKind::add, scaled, at);
    together *= extent;
  }
  Shape wanted = call.shape(place);
  for (const int64_t extent : rest) wanted.push_back(extent);
  rows = rest;
  rows.insert(0, together);
  Shape updates_shape = rest;
  updates_shape.insert(0, call.type(place).elements());
  const NodeId values = call.broadcast(call.cast(call.tensor("values"), call.dtype(x)), wanted);
  const ScatterKind kind = call.flag("accumulate") ? ScatterKind::add : ScatterKind::set;
  const NodeId y = call.scatter(kind, call.reshape(x, rows), call.flat(place), call.reshape(values, updates_shape));
  return one(call.reshape(y, call.shape(x)));
}

Values sort(const Call& call) {
  const NodeId x = call.tensor("self");
  if (call.rank(x) == 0) refuse("the order of {}, wanted at least one axis", call.type(x));
  const int axis = call.axis(x, call.integer("dim", -1));
  const auto top = call.top(x, call.shape(x)[axis], axis, !call.flag("descending"));
  return several({top.values, top.places});
}
Values argsort(const Call& call) {
  const NodeId x = call.tensor("self");
  if (call.rank(x) == 0) refuse("the order of {}, wanted at least one axis", call.type(x));
  const int axis = call.axis(x, call.integer("dim", -1));
  return one(call.top(x, call.shape(x)[axis], axis, !call.flag("descending")).places);
}

// 1 at the place that an index names along a new last axis.
Values one_hot(const Call& call) {
  const NodeId x = call.cast(call.tensor("self"), DType::i64);
  const int64_t classes = call.integer("num_classes", -1);
  if (classes < 1 || classes > exported::kMostMade) refuse("{} classes, wanted 1 to {}", classes, exported::kMostMade);
  const int rank = call.rank(x) + 1;
  return one(
      call.cast(call.binary(BinaryKind::eq, call.unsqueeze(x, -1), call.counted(classes, rank - 1, rank)), DType::i64));
}

}  // namespace operators

}  // namespace rung::pt2
