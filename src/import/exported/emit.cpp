// Element-wise ops and movement of exported graphs.
// SPDX-License-Identifier: Apache-2.0
#include "import/exported/emit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/ranges.h>

#include "ir/checked_shape.hpp"
#include "reference/evaluate.hpp"

namespace rung::exported {

DType promoted(DType a, DType b) {
  if (a == b) return a;
  const auto order = [](DType d) {
    constexpr DType kOrder[] = {DType::boolean, DType::u8, DType::i8, DType::i32, DType::i64};
    return std::ranges::find(kOrder, d) - std::begin(kOrder);
  };
  if (is_float(a) && is_float(b)) return DType::f32;  // f16 and bf16 hold neither's values
  if (is_float(a) || is_float(b)) return is_float(a) ? a : b;
  if ((a == DType::u8 && b == DType::i8) || (a == DType::i8 && b == DType::u8)) return DType::i32;
  return order(a) > order(b) ? a : b;
}

double least_of(DType type) {
  if (is_float(type)) return -INFINITY;
  if (type == DType::i64) return static_cast<double>(std::numeric_limits<int64_t>::min());
  if (type == DType::i32) return std::numeric_limits<int32_t>::min();
  return type == DType::i8 ? -128 : 0;
}

int Emit::axis(NodeId x, int64_t axis, int extra) const {
  return value_or_throw(normalize_axis(axis, rank(x) + extra));
}

Dims Emit::dims(const std::vector<int64_t>& extents) {
  if (extents.size() > Dims::kMaxRank) refuse("got {} axes, wanted at most {}", extents.size(), Dims::kMaxRank);
  return Dims(std::span(extents));
}

std::vector<int64_t> Emit::integers(NodeId x, const std::string& what) const {
  const auto value = builder_.computed_value(x);
  if (!value) refuse("{} depends on the values of an input, wanted a value that is known at import", what);
  const Tensor wide = convert(*value, DType::i64);
  return {wide.as<int64_t>().begin(), wide.as<int64_t>().end()};
}

NodeId Emit::add(Op op, std::vector<NodeId> operands) const {
  return value_or_throw(builder_.add(std::move(op), std::move(operands), label_));
}

NodeId Emit::literal(const Tensor& value) const { return builder_.graph.literal(label_, value); }

std::optional<NodeId> Emit::power(NodeId x, double exponent) const {
  if (exponent == 1) return x;
  if (exponent == 2) return unary(UnaryKind::square, x);
  if (exponent == 3) return binary(BinaryKind::mul, unary(UnaryKind::square, x), x);
  if (exponent == 0.5) return unary(UnaryKind::sqrt, x);
  if (exponent == -0.5) return unary(UnaryKind::rsqrt, x);
  if (exponent == -1) return unary(UnaryKind::reciprocal, x);
  return std::nullopt;
}

NodeId Emit::clamp(NodeId x, std::optional<double> least, std::optional<double> most) const {
  if (least) x = binary(BinaryKind::max, x, scalar(*least, dtype(x)));
  if (most) x = binary(BinaryKind::min, x, scalar(*most, dtype(x)));
  return x;
}

NodeId Emit::reshape(NodeId x, const Shape& to) const { return shape(x) == to ? x : add(Reshape{to}, {x}); }

NodeId Emit::reshape(NodeId x, std::vector<int64_t> extents) const {
  const auto open = std::ranges::find(extents, -1);
  if (open != extents.end()) {
    *open = 1;
    if (!within_limits(dims(extents))) refuse("got extents {}, wanted one of -1 at most", fmt::join(extents, ","));
    const int64_t others = dims(extents).product();
    if (others == 0) refuse("an extent of -1 beside one of 0 is open");
    *open = type(x).elements() / others;
  }
  return reshape(x, dims(extents));
}

NodeId Emit::transpose(NodeId x, const Dims& permutation) const { return add(Transpose{permutation}, {x}); }

NodeId Emit::swap_axes(NodeId x, int64_t a, int64_t b) const {
  return rank(x) == 0 ? x : builder_.swap_axes(x, axis(x, a), axis(x, b), label_);
}

NodeId Emit::slice(NodeId x, int64_t at, int64_t begin, int64_t end, int64_t step) const {
  if (step < 1) refuse("a slice with step {}, wanted at least 1", step);
  const int i = axis(x, at);
  const int64_t extent = shape(x)[i];
  const auto place = [extent](int64_t index) {
    return std::clamp<int64_t>(index < 0 && index >= -extent ? index + extent : index, 0, extent);
  };
  const int64_t first = place(begin), last = std::max(first, place(end));
  step = std::min(step, std::max<int64_t>(1, extent));  // a longer one takes the first element, too
  return first == 0 && last == extent && step == 1 ? x : add(Slice{i, first, last, step}, {x});
}

NodeId Emit::select_index(NodeId x, int64_t at, int64_t index) const {
  const int i = axis(x, at);
  const int64_t extent = shape(x)[i];
  if (index < -extent || index >= extent) refuse("index {} of an axis of {}", index, extent);
  if (index < 0) index += extent;
  Shape rest = shape(x);
  rest.erase(i);
  return reshape(slice(x, i, index, index + 1), rest);
}

NodeId Emit::concat(const std::vector<NodeId>& parts, int64_t at) const {
  if (parts.empty()) refuse("got no tensor to concatenate");
  return parts.size() == 1 ? parts[0] : add(Concat{axis(parts[0], at)}, parts);
}

// Integers of a few elements are shapes and indices, whose values the importer wants to know.
NodeId Emit::broadcast(NodeId x, const Shape& to) const {
  constexpr int64_t kMostIntegers = 64;
  if (shape(x) == to) return x;
  const auto value = is_float(dtype(x)) || to.product() > kMostIntegers ? std::nullopt : value_of(x);
  if (!value) return add(Broadcast{to}, {x});
  const Type type{dtype(x), to};
  value_or_throw(graph().infer(Broadcast{to}, std::array{x}));
  return literal(value_or_throw(evaluate_results(Broadcast{to}, {*value}, type))[0]);
}

NodeId Emit::unsqueeze(NodeId x, int64_t at) const {
  const int i = axis(x, at, 1);
  if (rank(x) == Dims::kMaxRank) refuse("got more than {} axes", Dims::kMaxRank);
  Shape to = shape(x);
  to.insert(i, 1);
  return reshape(x, to);
}

NodeId Emit::squeeze(NodeId x, std::vector<int64_t> axes) const {
  for (int64_t& at : axes) at = axis(x, at);
  Shape to;
  for (int i = 0; i < rank(x); ++i)
    if (shape(x)[i] != 1 || std::ranges::find(axes, i) == axes.end()) to.push_back(shape(x)[i]);
  return reshape(x, to);
}

NodeId Emit::gather(NodeId x, NodeId indices, int64_t at) const {
  const int i = axis(x, at);
  if (const auto value = value_of(indices); value && value->elements() > 0) {  // negative ones count from the end
    Tensor places = convert(*value, DType::i64);
    for (int64_t& place : places.as<int64_t>()) {
      if (place < -shape(x)[i] || place >= shape(x)[i]) refuse("index {} of an axis of {}", place, shape(x)[i]);
      if (place < 0) place += shape(x)[i];
    }
    indices = literal(places);
  }
  return add(Gather{i}, {x, indices});
}

NodeId Emit::repeat(NodeId x, int64_t at, int64_t times) const {
  constexpr int64_t kMostCopies = 1 << 16;
  if (times < 0 || times > kMostCopies) refuse("{} copies, wanted at most {}", times, kMostCopies);
  return times == 0 ? slice(x, at, 0, 0) : concat(std::vector<NodeId>(static_cast<size_t>(times), x), at);
}

NodeId Emit::replaced(NodeId x, NodeId part, int64_t at, int64_t begin) const {
  const int i = axis(x, at);
  const int64_t whole = shape(x)[i];
  if (begin < 0 || begin > whole || shape(part)[i] > whole - begin)
    refuse("{} from element {} on in place of a part of {}", type(part), begin, type(x));
  const int64_t behind = begin + shape(part)[i];
  std::vector<NodeId> parts{part};
  if (begin > 0) parts.insert(parts.begin(), slice(x, i, 0, begin));
  if (behind < whole) parts.push_back(slice(x, i, behind, whole));
  return concat(parts, i);
}

std::vector<NodeId> Emit::split_evenly(NodeId x, int64_t at, int64_t size) const {
  if (size < 1) refuse("parts of {}", size);
  std::vector<int64_t> sizes;
  const int64_t extent = shape(x)[axis(x, at)];
  for (int64_t begin = 0; begin < extent; begin += size) sizes.push_back(std::min(size, extent - begin));
  return split(x, at, sizes);
}

std::vector<NodeId> Emit::split(NodeId x, int64_t at, const std::vector<int64_t>& sizes) const {
  std::vector<NodeId> parts;
  int64_t begin = 0;
  for (const int64_t size : sizes) {
    if (size < 0) refuse("a part of {}", size);
    parts.push_back(slice(x, at, begin, begin + size));
    begin += size;
  }
  if (begin != shape(x)[axis(x, at)]) refuse("parts of {} in all, wanted {}", begin, shape(x)[axis(x, at)]);
  return parts;
}

NodeId Emit::counted_from_front(NodeId indices, int64_t extent) const {
  const DType type = dtype(indices);
  if (is_float(type) || type == DType::boolean || type == DType::u8)
    refuse("indices of {}, wanted integers", this->type(indices));
  const NodeId turned = binary(BinaryKind::add, indices, scalar(static_cast<double>(extent), type));
  return select(binary(BinaryKind::lt, indices, scalar(0, type)), turned, indices);
}

// x as one axis, and the place of each element in it.
NodeId Emit::element_places(NodeId x, NodeId indices, int64_t axis) const {
  const int at = this->axis(x, axis);
  const Shape to = shape(indices);
  bool fits = to.rank() == rank(x);
  for (int i = 0; fits && i < to.rank(); ++i) fits = i == at || to[i] <= shape(x)[i];
  if (to.product() > kMostMade) refuse("indices of {}, wanted at most {}", type(indices), kMostMade);
  if (!fits) refuse("indices of {} for {}, wanted as many axes, and none longer", type(indices), type(x));
  Shape others = to;
  others[at] = 1;
  const Strides strides = contiguous_strides(shape(x)), steps = contiguous_strides(others);
  Tensor offsets({DType::i64, others});
  auto values = offsets.as<int64_t>();
  for (size_t i = 0; i < values.size(); ++i)
    for (int other = 0; other < to.rank(); ++other)
      if (other != at) values[i] += static_cast<int64_t>(i) / steps[other] % others[other] * strides[other];
  NodeId place = cast(counted_from_front(indices, shape(x)[at]), DType::i64);
  place = binary(BinaryKind::mul, place, scalar(static_cast<double>(strides[at]), DType::i64));
  return binary(BinaryKind::add, place, literal(offsets));
}

NodeId Emit::gather_elements(NodeId x, NodeId indices, int64_t axis) const {
  return gather(reshape(x, Shape{type(x).elements()}), element_places(x, indices, axis), 0);
}

NodeId Emit::counted(int64_t extent, int axis, int rank) const {
  if (extent > kMostMade) refuse("a count to {}, wanted at most {}", extent, kMostMade);
  Shape shape = Dims::filled(rank, 1);
  shape[axis] = extent;
  Tensor places({DType::i64, shape});
  for (int64_t i = 0; i < extent; ++i) places.as<int64_t>()[static_cast<size_t>(i)] = i;
  return literal(places);
}

NodeId Emit::scatter(ScatterKind kind, NodeId x, NodeId indices, NodeId updates) const {
  return add(Scatter{kind}, {x, indices, updates});
}

// The indexed axes become one axis, whose place is the sum of the indices times their strides.
NodeId Emit::index(NodeId x, const std::vector<std::optional<NodeId>>& indices) const {
  const auto has_index = [](const std::optional<NodeId>& i) { return i.has_value(); };
  const auto first = std::ranges::find_if(indices, has_index);
  const auto behind = std::find_if_not(first, indices.end(), has_index);
  if (first == indices.end()) return x;
  if (std::any_of(behind, indices.end(), has_index)) refuse("indices of axes that do not stand together");
  const int begin = static_cast<int>(first - indices.begin()), end = static_cast<int>(behind - indices.begin());
  if (end > rank(x)) refuse("got {} indices of {}", end, type(x));
  std::optional<NodeId> place;
  int64_t together = 1;
  for (int i = end - 1; i >= begin; --i) {
    NodeId at = counted_from_front(*indices[static_cast<size_t>(i)], shape(x)[i]);
    if (together > 1) at = binary(BinaryKind::mul, at, scalar(static_cast<double>(together), dtype(at)));
    place = place ? binary(BinaryKind::add, *place, at) : at;
    together *= shape(x)[i];
  }
  Shape flat;
  for (int i = 0; i < rank(x); ++i) {
    if (i == begin) flat.push_back(together);
    if (i < begin || i >= end) flat.push_back(shape(x)[i]);
  }
  return gather(reshape(x, flat), *place, begin);
}

NodeId Emit::triangle(NodeId x, bool lower, int64_t diagonal) const {
  if (rank(x) < 2) refuse("a triangle of {}, wanted two axes", type(x));
  const int64_t rows = shape(x).back(1), columns = shape(x).back();
  if (rows > 0 && columns > kMostMade / rows) refuse("a triangle of {}, wanted at most {} places", type(x), kMostMade);
  Tensor kept({DType::boolean, {rows, columns}});
  auto values = kept.as<bool>();
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      values[static_cast<size_t>(i * columns + j)] = lower ? j - i <= diagonal : j - i >= diagonal;
  return select(literal(kept), x, scalar(0, dtype(x)));
}

NodeId Emit::filled(const Shape& to, double value, DType type) const { return broadcast(scalar(value, type), to); }

}  // namespace rung::exported
