// Operators of ONNX graphs that make tensors of numbers.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "import/onnx/operators.hpp"
#include "ir/checked_shape.hpp"

namespace rung::onnx::operators {
namespace {

using exported::refuse;

Tensor known(const Call& call, size_t input) {
  const auto value = call.value_of(call[input]);
  if (!value || value->elements() != 1) refuse("input {} depends on an input's values", input);
  return *value;
}

double number(const Tensor& value) {
  if (!is_float(value.dtype())) return static_cast<double>(convert(value, DType::i64).as<int64_t>()[0]);
  return static_cast<double>(convert(value, DType::f32).as<float>()[0]);
}

}  // namespace

Outputs shape_of(const Call& call) {
  const Shape& shape = call.shape(call[0]);
  const auto place = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + shape.rank() : at, 0, shape.rank()); };
  const int64_t begin = place(call.integer("start", 0)), end = place(call.integer("end", shape.rank()));
  std::vector<int64_t> extents;
  for (int64_t i = begin; i < end; ++i) extents.push_back(shape[static_cast<int>(i)]);
  return {call.literal(Tensor::of<int64_t>({static_cast<int64_t>(extents.size())}, extents))};
}
Outputs size_of_tensor(const Call& call) {
  return {call.literal(Tensor::of<int64_t>({}, {call.type(call[0]).elements()}))};
}

Outputs range(const Call& call) {
  const Tensor first = known(call, 0);
  const double start = number(first), step = number(known(call, 2));
  const double count = std::ceil((number(known(call, 1)) - start) / step);
  if (!(count <= static_cast<double>(exported::kMostMade))) refuse("a range of {} numbers", count);
  const auto length = static_cast<int64_t>(std::max(0.0, count));
  Tensor values({is_float(first.dtype()) ? DType::f32 : DType::i64, {length}});
  for (int64_t i = 0; i < length; ++i) {
    const double value = start + static_cast<double>(i) * step;
    if (is_float(first.dtype()))
      values.as<float>()[static_cast<size_t>(i)] = static_cast<float>(value);
    else
      values.as<int64_t>()[static_cast<size_t>(i)] = static_cast<int64_t>(value);
  }
  return {call.literal(convert(values, first.dtype()))};
}

Outputs constant_of_shape(const Call& call) {
  const std::vector<int64_t> sizes = call.integers_of(0);
  const Shape shape = call.dims(sizes);
  if (!within_limits(shape)) refuse("got a tensor of {}", shape);
  const auto value = call.tensor("value");
  if (!value) return {call.broadcast(call.scalar(0, DType::f32), shape)};
  if (value->elements() != 1) refuse("a value of {}, wanted one number", value->type());
  return {call.broadcast(call.reshape(call.literal(*value), Shape{}), shape)};
}

}  // namespace rung::onnx::operators
