// Operators of exported programs that read and write at places: diagonals, indices, strides.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "import/pt2/operators.hpp"
#include "import/pt2/places.hpp"

namespace rung::pt2::operators {
namespace {

using exported::refuse;

NodeId table(const Call& call, const std::vector<int64_t>& values, const Shape& shape) {
  return call.literal(Tensor::of<int64_t>(shape, values));
}

int64_t offset_of(const Call& call, std::string_view name) {
  const int64_t offset = call.integer(name, 0);
  if (std::abs(std::clamp(offset, -exported::kMostMade - 1, exported::kMostMade + 1)) > exported::kMostMade)
    refuse("a diagonal {} places away", offset);
  return offset;
}

// Both axes of a call that has two, the second behind the first.
struct TwoAxes {
  int first, second;
};
TwoAxes two_axes(const Call& call, NodeId x, int extra, int64_t default_first, int64_t default_second) {
  const TwoAxes two{call.axis(x, call.integer("dim1", default_first), extra),
                    call.axis(x, call.integer("dim2", default_second), extra)};
  if (two.first == two.second) refuse("a diagonal of one axis twice");
  return two;
}

NodeId diagonal_of(const Call& call, NodeId x, TwoAxes axes, int64_t offset) {
  const int last = call.rank(x) - 1;
  const int64_t rows = call.shape(x)[axes.first], columns = call.shape(x)[axes.second];
  const int64_t length =
      std::max<int64_t>(0, offset < 0 ? std::min(rows + offset, columns) : std::min(rows, columns - offset));
  Dims order;
  for (int i = 0; i <= last; ++i)
    if (i != axes.first && i != axes.second) order.push_back(i);
  order.push_back(axes.first), order.push_back(axes.second);
  Shape to = call.shape(call.transpose(x, order));
  to.erase(last), to[last - 1] = rows * columns;
  std::vector<int64_t> places(static_cast<size_t>(length));
  for (int64_t i = 0; i < length; ++i)
    places[static_cast<size_t>(i)] = (i + std::max<int64_t>(0, -offset)) * columns + i + std::max<int64_t>(0, offset);
  return call.Emit::gather(call.reshape(call.transpose(x, order), to), table(call, places, Shape{length}), last - 1);
}

// Zeros but on a diagonal, which has the last axis of x.
NodeId on_diagonal(const Call& call, NodeId x, TwoAxes axes, int64_t offset) {
  const int64_t length = call.shape(x)[call.rank(x) - 1], size = length + std::abs(offset);
  if (size > 0 && size > exported::kMostMade / size) refuse("a diagonal of {} x {} elements", size, size);
  std::vector<int64_t> places(static_cast<size_t>(size * size), length);  // `length`: the zero behind x
  for (int64_t i = 0; i < length; ++i)
    places[static_cast<size_t>((i + std::max<int64_t>(0, -offset)) * size + i + std::max<int64_t>(0, offset))] = i;
  const int last = call.rank(x) - 1;
  NodeId y = call.Emit::gather(call.padded(x, last, 0, 1, 0), table(call, places, Shape{size, size}), last);
  Dims order;
  for (int i = 0, next = 0; i <= last + 1; ++i)
    order.push_back(i == axes.first ? last : i == axes.second ? last + 1 : next++);
  return call.transpose(y, order);
}

}  // namespace

Values diagonal(const Call& call) {
  const NodeId x = call.tensor("self");
  return one(diagonal_of(call, x, two_axes(call, x, 0, 0, 1), offset_of(call, "offset")));
}
Values linalg_diagonal(const Call& call) {
  const NodeId x = call.tensor("A");
  const TwoAxes axes{call.axis(x, call.integer("dim1", -2)), call.axis(x, call.integer("dim2", -1))};
  if (axes.first == axes.second) refuse("a diagonal of one axis twice");
  return one(diagonal_of(call, x, axes, offset_of(call, "offset")));
}
Values diag_embed(const Call& call) {
  const NodeId x = call.tensor("self");
  return one(on_diagonal(call, x, two_axes(call, x, 1, -2, -1), offset_of(call, "offset")));
}
Values diag(const Call& call) {
  const NodeId x = call.tensor("self");
  const int64_t offset = offset_of(call, "diagonal");
  return one(call.rank(x) == 1 ? on_diagonal(call, x, {0, 1}, offset) : diagonal_of(call, x, {0, 1}, offset));
}
Values trace(const Call& call) {
  return one(call.reduce(ReduceKind::sum, diagonal_of(call, call.tensor("self"), {0, 1}, 0), {0}, false));
}

Values take(const Call& call) {
  const NodeId x = call.tensor("self");
  return one(
      call.Emit::gather(call.flat(x), call.counted_from_front(call.tensor("index"), call.type(x).elements()), 0));
}
// gather() of operands that broadcast in the other axes; without an axis, of all elements in a row.
Values take_along_dim(const Call& call) {
  NodeId x = call.tensor("self"), indices = call.tensor("indices");
  if (!call.has("dim")) return one(call.gather_elements(call.flat(x), call.flat(indices), 0));
  const int at = call.axis(x, call.integer("dim"));
  if (call.rank(x) != call.rank(indices)) refuse("indices of {} for {}", call.type(indices), call.type(x));
  Shape of_x = call.shape(x), of_indices = call.shape(indices);
  for (int i = 0; i < call.rank(x); ++i)
    if (i != at) of_x[i] = of_indices[i] = std::max(of_x[i], of_indices[i]);
  x = call.broadcast(x, of_x), indices = call.broadcast(indices, of_indices);
  return one(call.gather_elements(x, call.counted_from_front(indices, of_x[at]), at));
}

Values index_add(const Call& call) {
  NodeId updates = call.tensor("source");
  if (const double alpha = call.number("alpha", 1); alpha != 1) updates = call.scale(updates, alpha);
  return one(rows_written(call, ScatterKind::add, call.tensor("self"), updates));
}
Values index_copy(const Call& call) {
  return one(rows_written(call, ScatterKind::set, call.tensor("self"), call.tensor("source")));
}
Values index_fill(const Call& call) {
  const NodeId x = call.tensor("self");
  return one(rows_written(call, ScatterKind::set, x, call.tensor_or_number("value", x)));
}

// Each row of an axis as often as its count, which is known at import.
Values repeat_interleave_each(const Call& call) {
  const bool of_counts = !call.has("self");  // the places alone, as many as the count says
  const std::vector<int64_t> counts = call.integers(call.tensor("repeats"), "repeats");
  NodeId x = of_counts ? call.tensor("repeats") : call.tensor("self");
  if (!call.has("dim")) x = call.flat(x);
  const int at = call.axis(x, call.integer("dim", 0));
  const int64_t extent = call.shape(x)[at];
  if (counts.size() != 1 && static_cast<int64_t>(counts.size()) != extent)
    refuse("got {} repeats of {} rows", counts.size(), extent);
  std::vector<int64_t> rows;
  for (int64_t i = 0; i < extent; ++i) {
    const int64_t count = counts[counts.size() == 1 ? 0 : static_cast<size_t>(i)];
    if (count < 0 || count > exported::kMostMade - static_cast<int64_t>(rows.size())) refuse("{} repeats", count);
    rows.insert(rows.end(), static_cast<size_t>(count), i);
  }
  const NodeId places = table(call, rows, Shape{static_cast<int64_t>(rows.size())});
  return one(of_counts ? places : call.Emit::gather(x, places, at));
}

// Elements of dense memory at strides.
Values as_strided(const Call& call) {
  const NodeId x = call.tensor("self");
  const Shape to = call.dims(call.integers("size"));
  const std::vector<int64_t> strides = call.integers("stride");
  if (static_cast<int>(strides.size()) != to.rank()) refuse("got {} strides of {} axes", strides.size(), to.rank());
  const auto within = [&](int64_t place) {
    if (place < 0 || place >= call.type(x).elements()) refuse("place {} of {}", place, call.type(x));
    return place;
  };
  std::vector<int64_t> places{within(call.integer("storage_offset", 0))};
  for (int axis = 0; axis < to.rank(); ++axis) {
    const int64_t stride = to[axis] > 1 ? within(strides[static_cast<size_t>(axis)]) : 0;
    if (!places.empty() && to[axis] > exported::kMostMade / static_cast<int64_t>(places.size()))
      refuse("a table of more than {} places", exported::kMostMade);
    std::vector<int64_t> more;
    for (const int64_t place : places)
      for (int64_t i = 0; i < to[axis]; ++i) more.push_back(within(place + i * stride));
    places = std::move(more);
  }
  const NodeId at = table(call, places, Shape{static_cast<int64_t>(places.size())});
  return one(call.reshape(call.Emit::gather(call.flat(x), at, 0), to));
}

}  // namespace rung::pt2::operators
