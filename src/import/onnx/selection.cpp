// Operators of ONNX graphs that put elements at places, or select them by a condition.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <numeric>

#include "import/onnx/elements.hpp"
#include "import/onnx/operators.hpp"

namespace rung::onnx::operators {
namespace {

using exported::refuse;

ScatterKind reduction_of(const Call& call) {
  const std::string word = call.text("reduction", "none");
  const auto kind = word == "none" ? ScatterKind::set : scatter_named(word);
  if (!kind || word == "set") refuse("reduction: got '{}', wanted none, add, mul, max or min", word);
  return *kind;
}

// x as one axis of rows, where each has the elements of the axes from `axes` on.
NodeId rows_of(const Call& call, NodeId x, int axes) {
  Shape to{1};
  for (int i = 0; i < call.rank(x); ++i)
    if (i < axes)
      to[0] *= call.shape(x)[i];
    else
      to.push_back(call.shape(x)[i]);
  return call.reshape(x, to);
}
NodeId flat(const Call& call, NodeId x) { return rows_of(call, x, call.rank(x)); }

Tensor known(const Call& call, size_t input) {
  const auto value = call.value_of(call[input]);
  if (!value) refuse("the result's shape depends on the values of an input, wanted input {} known at import", input);
  return *value;
}

// Numbers of any type in which equal ones are equal and the order is theirs.
std::vector<double> ordered(const Tensor& value) {
  std::vector<double> numbers;
  if (value.dtype() == DType::i64)
    for (const int64_t one : value.as<int64_t>()) numbers.push_back(static_cast<double>(one));
  else {
    const Tensor wide = convert(value, DType::f32);
    for (const float one : wide.as<float>()) numbers.push_back(one);
  }
  return numbers;
}

Tensor list_of(const std::vector<int64_t>& values) {
  return Tensor::of<int64_t>({static_cast<int64_t>(values.size())}, values);
}

}  // namespace

Outputs scatter_elements(const Call& call) {
  const NodeId x = call[0], places = call.element_places(x, call[1], call.integer("axis", 0));
  if (call.shape(call[2]) != call.shape(call[1]))
    refuse("updates of {} at indices of {}", call.type(call[2]), call.type(call[1]));
  const NodeId y = call.scatter(reduction_of(call), flat(call, x), flat(call, places), flat(call, call[2]));
  return {call.reshape(y, call.shape(x))};
}

// The last axis of the indices says the place along the first axes of x, which become one.
Outputs scatter_nd(const Call& call) {
  const NodeId x = call[0], indices = call[1];
  const int64_t count = call.rank(indices) == 0 ? 0 : call.shape(indices).back();
  if (count < 1 || count > call.rank(x)) refuse("places along {} axes of {}", count, call.type(x));
  const int axes = static_cast<int>(count);
  NodeId place = call.scalar(0, DType::i64);
  for (int i = 0; i < axes; ++i) {
    const int64_t extent = call.shape(x)[i];
    const NodeId at = call.counted_from_front(call.cast(call.select_index(indices, -1, i), DType::i64), extent);
    place = call.binary(BinaryKind::add,
                        call.binary(BinaryKind::mul, place, call.scalar(static_cast<double>(extent), DType::i64)), at);
  }
  const NodeId updates = rows_of(call, call[2], call.rank(indices) - 1);
  const NodeId y = call.scatter(reduction_of(call), rows_of(call, x, axes), flat(call, place), updates);
  return {call.reshape(y, call.shape(x))};
}

// A cache with new rows at each batch's place along an axis, which may be a ring.
Outputs tensor_scatter(const Call& call) {
  const NodeId cache = call[0];
  const int axis = call.axis(cache, call.integer("axis", -2));
  const std::string mode = call.text("mode", "linear");
  if (mode != "linear" && mode != "circular") refuse("mode: got '{}', wanted linear or circular", mode);
  if (axis == 0) refuse("axis 0 of {}, which is the batch", call.type(cache));
  const NodeId rows = call.swap_axes(cache, axis, 1), updates = call.swap_axes(call[1], axis, 1);
  const int64_t batch = call.shape(rows)[0], extent = call.shape(rows)[1], count = call.shape(updates)[1];
  NodeId place = call.counted(count, 1, 2);
  if (call.has(2)) place = call.binary(BinaryKind::add, place, call.unsqueeze(call.cast(call[2], DType::i64), 1));
  const NodeId size = call.scalar(static_cast<double>(extent), DType::i64);
  if (mode == "circular") place = call.add(Formula{FormulaKind::floor_mod}, {place, size});
  place = call.binary(BinaryKind::add, place, call.binary(BinaryKind::mul, call.counted(batch, 0, 2), size));
  const NodeId y = call.scatter(ScatterKind::set, rows_of(call, rows, 2), flat(call, place), rows_of(call, updates, 2));
  return {call.swap_axes(call.reshape(y, call.shape(rows)), axis, 1)};
}

// Values of "off" and "on" where a place along a new axis is the index; indices outside are on nowhere.
Outputs one_hot(const Call& call) {
  const NodeId indices = call.cast(call[0], DType::i64);
  const NodeId depth_node = call.cast(call[1], DType::i64);
  const auto depth_list = call.integers(depth_node, "the depth");
  if (depth_list.size() != 1 || depth_list[0] < 1 || depth_list[0] > exported::kMostMade)
    refuse("depth: got {} numbers, wanted one of 1 to {}", depth_list.size(), exported::kMostMade);
  const int64_t depth = depth_list[0];
  const int rank = call.rank(indices) + 1;
  const int axis = value_or_throw(normalize_axis(call.integer("axis", -1), rank));
  const NodeId place = call.unsqueeze(call.counted_from_front(indices, depth), axis);
  const NodeId hit = call.binary(BinaryKind::eq, place, call.counted(depth, axis, rank));
  return {call.select(hit, call.select_index(call[2], 0, 1), call.select_index(call[2], 0, 0))};
}

Outputs eye_like(const Call& call) {
  const NodeId x = call[0];
  if (call.rank(x) != 2) refuse("an identity like {}, wanted two axes", call.type(x));
  const NodeId row = call.counted(call.shape(x)[0], 0, 2), column = call.counted(call.shape(x)[1], 1, 2);
  const NodeId shift = call.scalar(static_cast<double>(call.integer("k", 0)), DType::i64);
  const NodeId hit = call.binary(BinaryKind::eq, call.binary(BinaryKind::add, row, shift), column);
  const int64_t type = call.integer("dtype", 0);
  return {type == 0 ? call.cast(hit, call.dtype(x)) : converted(call, hit, type, true)};
}

// The first elements of each batch along the time axis, as many as its length says, the other way round.
Outputs reverse_sequence(const Call& call) {
  const NodeId x = call[0];
  const int time = call.axis(x, call.integer("time_axis", 0)), batch = call.axis(x, call.integer("batch_axis", 1));
  Shape along = Dims::filled(call.rank(x), 1);
  along[batch] = call.shape(x)[batch];
  const NodeId length = call.reshape(call.cast(call[1], DType::i64), along);
  const NodeId place = call.counted(call.shape(x)[time], time, call.rank(x));
  const NodeId last = call.binary(BinaryKind::sub, length, call.scalar(1, DType::i64));
  const NodeId turned =
      call.select(call.binary(BinaryKind::lt, place, length), call.binary(BinaryKind::sub, last, place), place);
  return {call.gather_elements(x, call.broadcast(turned, call.shape(x)), time)};
}

Outputs compress(const Call& call) {
  const bool whole = !call.find("axis", AttributeKind::i);
  const NodeId x = whole ? flat(call, call[0]) : call[0];
  const int axis = whole ? 0 : call.axis(x, call.integer("axis"));
  const Tensor condition = known(call, 1);
  if (condition.dtype() != DType::boolean) refuse("a condition of {}, wanted bool", condition.type());
  std::vector<int64_t> places;
  for (size_t i = 0; i < condition.as<bool>().size(); ++i)
    if (condition.as<bool>()[i]) places.push_back(static_cast<int64_t>(i));
  if (!places.empty() && places.back() >= call.shape(x)[axis])
    refuse("place {} of an axis of {}", places.back(), call.shape(x)[axis]);
  return {call.add(Gather{axis}, {x, call.literal(list_of(places))})};
}

// The places of elements that are not 0: a row for each axis.
Outputs non_zero(const Call& call) {
  const Tensor x = known(call, 0);
  const auto values = ordered(x);
  const Strides strides = contiguous_strides(x.shape());
  std::vector<int64_t> found;
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i] != 0) found.push_back(static_cast<int64_t>(i));
  const int rank = x.shape().rank();
  Tensor out({DType::i64, {rank, static_cast<int64_t>(found.size())}});
  for (int axis = 0; axis < rank; ++axis)
    for (size_t i = 0; i < found.size(); ++i)
      out.as<int64_t>()[static_cast<size_t>(axis) * found.size() + i] = found[i] / strides[axis] % x.shape()[axis];
  return {call.literal(out)};
}

// Slices along an axis, or elements, that differ: themselves, the first place of each, each one's number, and counts.
Outputs unique(const Call& call) {
  const bool whole = !call.find("axis", AttributeKind::i);
  known(call, 0);
  const NodeId x = whole ? flat(call, call[0]) : call[0];
  const int axis = whole ? 0 : call.axis(x, call.integer("axis"));
  const NodeId rows = call.swap_axes(x, axis, 0);
  const auto value = call.value_of(rows);
  if (!value || call.rank(x) == 0) refuse("unique elements of {}", call.type(x));
  const auto numbers = ordered(*value);
  const auto count = static_cast<size_t>(call.shape(rows)[0]);
  const size_t width = count == 0 ? 0 : numbers.size() / count;
  const auto row = [&](size_t i) {
    const auto begin = numbers.begin() + static_cast<std::ptrdiff_t>(i * width);
    return std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(width));
  };
  std::map<std::vector<double>, size_t> first;
  for (size_t i = 0; i < count; ++i) first.emplace(row(i), i);
  std::vector<int64_t> firsts;
  for (const auto& [key, place] : first) firsts.push_back(static_cast<int64_t>(place));
  if (call.integer("sorted", 1) == 0) std::ranges::sort(firsts);
  std::map<size_t, int64_t> number;
  for (size_t i = 0; i < firsts.size(); ++i) number[static_cast<size_t>(firsts[i])] = static_cast<int64_t>(i);
  std::vector<int64_t> inverse, counts(firsts.size());
  for (size_t i = 0; i < count; ++i) {
    inverse.push_back(number.at(first.at(row(i))));
    ++counts[static_cast<size_t>(inverse.back())];
  }
  const NodeId y = call.add(Gather{axis}, {x, call.literal(list_of(firsts))});
  return {y, call.literal(list_of(firsts)), call.literal(list_of(inverse)), call.literal(list_of(counts))};
}

}  // namespace rung::onnx::operators
