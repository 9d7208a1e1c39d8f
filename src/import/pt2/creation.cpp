// Operators of exported programs that make tensors of numbers.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "import/pt2/doubles.hpp"
#include "import/pt2/operators.hpp"
#include "ir/checked_shape.hpp"

namespace rung::pt2::operators {
namespace {

using exported::refuse;

Shape shape_argument(const Call& call, std::string_view name) {
  const std::vector<int64_t> sizes = call.integers(name);
  if (sizes.size() > Dims::kMaxRank) refuse("got {} axes, wanted at most {}", sizes.size(), Dims::kMaxRank);
  const Shape shape{std::span(sizes)};
  if (!within_limits(shape)) refuse("got a tensor of {}", shape);
  return shape;
}

DType type_of_number(const Call& call, std::string_view name) {
  const Value* value = call.find(name);
  if (value && std::holds_alternative<bool>(value->is)) return DType::boolean;
  return value && std::holds_alternative<int64_t>(value->is) ? DType::i64 : DType::f32;
}

Values filled(const Call& call, const Shape& shape, double value, DType type) {
  return one(call.broadcast(call.scalar(value, type), shape));
}

// `size` of its own, or that of "self".
Values filled_like(const Call& call, double value) {
  const NodeId like = call.tensor("self");
  const Shape shape = call.find("size") ? shape_argument(call, "size") : call.shape(like);
  return filled(call, shape, value, call.dtype_argument("dtype").value_or(call.dtype(like)));
}

}  // namespace

Values arange(const Call& call) {
  const double start = call.number("start", 0), step = call.number("step", 1), end = call.number("end");
  if (step == 0) refuse("a range from {} to {} in steps of 0", start, end);
  const double count = std::ceil((end - start) / step);
  if (!(count <= static_cast<double>(exported::kMostMade))) refuse("a range of {} numbers", count);
  const bool fractions = start != std::floor(start) || step != std::floor(step) ||
                         (call.has("end") && std::holds_alternative<double>(call.find("end")->is));
  const DType type = call.dtype_argument("dtype").value_or(fractions ? DType::f32 : DType::i64);
  const auto length = static_cast<int64_t>(std::max(0.0, count));
  if (is_float(type)) {
    Tensor values({DType::f32, {length}});
    for (int64_t i = 0; i < length; ++i)
      values.as<float>()[static_cast<size_t>(i)] = static_cast<float>(start + static_cast<double>(i) * step);
    return one(call.literal(convert(values, type)));
  }
  Tensor values({DType::i64, {length}});
  for (int64_t i = 0; i < length; ++i)
    values.as<int64_t>()[static_cast<size_t>(i)] = static_cast<int64_t>(start) + i * static_cast<int64_t>(step);
  return one(call.literal(convert(values, type)));
}

Values linspace(const Call& call) {
  const auto values = evenly_spaced<float>(call.number("start"), call.number("end"), call.integer("steps"));
  const Tensor all = Tensor::of<float>({static_cast<int64_t>(values.size())}, values);
  return one(call.literal(convert(all, call.dtype_argument("dtype").value_or(DType::f32))));
}

Values full(const Call& call) {
  const DType type = call.dtype_argument("dtype").value_or(type_of_number(call, "fill_value"));
  return filled(call, shape_argument(call, "size"), call.number("fill_value"), type);
}
Values full_like(const Call& call) { return filled_like(call, call.number("fill_value")); }
Values ones(const Call& call) {
  return filled(call, shape_argument(call, "size"), 1, call.dtype_argument("dtype").value_or(DType::f32));
}
Values ones_like(const Call& call) { return filled_like(call, 1); }
Values zeros(const Call& call) {
  return filled(call, shape_argument(call, "size"), 0, call.dtype_argument("dtype").value_or(DType::f32));
}
Values zeros_like(const Call& call) { return filled_like(call, 0); }
Values scalar_tensor(const Call& call) {
  return one(call.scalar(call.number("s"), call.dtype_argument("dtype").value_or(DType::f32)));
}
Values eye(const Call& call) {
  const int64_t rows = call.integer("n"), columns = call.integer("m", rows);
  if (rows < 0 || columns < 0 || (rows > 0 && columns > exported::kMostMade / rows))
    refuse("{} by {} numbers", rows, columns);
  Tensor values({DType::f32, {rows, columns}});
  for (int64_t i = 0; i < std::min(rows, columns); ++i) values.as<float>()[static_cast<size_t>(i * columns + i)] = 1;
  return one(call.literal(convert(values, call.dtype_argument("dtype").value_or(DType::f32))));
}

namespace {

// The places of a triangle of a matrix, row after row: i64[2,N].
Values triangle_places(const Call& call, bool lower) {
  const int64_t rows = call.integer("row"), columns = call.integer("col"), offset = call.integer("offset", 0);
  constexpr int64_t kMostPlaces = int64_t{1} << 22;
  if (rows < 0 || rows > kMostPlaces || columns < 0 || (rows > 0 && columns > kMostPlaces / rows))
    refuse("{} by {} places", rows, columns);
  std::vector<int64_t> at[2];
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      if (lower ? j - i <= offset : j - i >= offset) at[0].push_back(i), at[1].push_back(j);
  const auto count = static_cast<int64_t>(at[0].size());
  at[0].insert(at[0].end(), at[1].begin(), at[1].end());
  return one(call.literal(Tensor::of<int64_t>({2, count}, at[0])));
}

}  // namespace

Values tril_indices(const Call& call) { return triangle_places(call, true); }
Values triu_indices(const Call& call) { return triangle_places(call, false); }
Values tril(const Call& call) { return one(call.triangle(call.tensor("self"), true, call.integer("diagonal", 0))); }
Values triu(const Call& call) { return one(call.triangle(call.tensor("self"), false, call.integer("diagonal", 0))); }

}  // namespace rung::pt2::operators
