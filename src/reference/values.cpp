// Reads, rounds and re-addresses tensors for the evaluator.
// SPDX-License-Identifier: Apache-2.0
#include "reference/values.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "ir/quantised.hpp"
#include "ir/with_type.hpp"

namespace rung::reference {
namespace {

template <class T>
double widen(T value) {
  if constexpr (kStoredFloat<T>)
    return static_cast<float>(value);
  else
    return static_cast<double>(value);
}

// Converts f64 to f32 rounded to odd: an inexact result gets its last bit set. Rounding that result to a type with at
// least two bits less gives the same as rounding the f64 directly.
float round_to_odd(double value) {
  auto nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value || std::isnan(value)) return nearest;
  auto bits = std::bit_cast<uint32_t>(nearest);
  if (std::abs(static_cast<double>(nearest)) > std::abs(value)) --bits;
  return std::bit_cast<float>(bits | 1u);
}

template <class T>
T narrow(double value) {
  if constexpr (kStoredFloat<T>)
    return T(round_to_odd(value));
  else if constexpr (std::is_same_v<T, bool>)
    return value != 0.0;
  else
    return static_cast<T>(value);
}

template <class F>
void with_integer_type(DType dtype, F&& f) {
  with_type(dtype, [&](auto zero) {
    if constexpr (std::is_integral_v<decltype(zero)>) f(zero);
  });
}

}  // namespace

void read(const Tensor& tensor, int64_t begin, std::span<double> out) {
  with_type(tensor.dtype(), [&](auto zero) {
    auto from = tensor.as<decltype(zero)>().subspan(static_cast<size_t>(begin), out.size());
    for (size_t i = 0; i < out.size(); ++i) out[i] = widen(from[i]);
  });
}

std::vector<double> read(const Tensor& tensor) {
  std::vector<double> values(static_cast<size_t>(tensor.elements()));
  read(tensor, 0, values);
  return values;
}

std::vector<int64_t> read_integers(const Tensor& tensor) {
  std::vector<int64_t> values(static_cast<size_t>(tensor.elements()));
  with_integer_type(tensor.dtype(), [&](auto zero) {
    auto from = tensor.as<decltype(zero)>();
    std::copy(from.begin(), from.end(), values.begin());
  });
  return values;
}

Tensor write(const Type& type, std::span<const double> values) {
  Tensor out(type);
  with_type(type.dtype, [&](auto zero) {
    auto to = out.as<decltype(zero)>();
    for (size_t i = 0; i < values.size(); ++i) to[i] = narrow<decltype(zero)>(values[i]);
  });
  return out;
}

Tensor write_rounded(const Type& type, std::span<const double> values) {
  if (type.dtype != DType::i8) return write(type, values);
  Tensor out(type);
  std::ranges::transform(values, out.as<int8_t>().begin(), rounded_to_i8);
  return out;
}

Tensor write_integers(const Type& type, std::span<const int64_t> values) {
  Tensor out(type);
  with_integer_type(type.dtype, [&](auto zero) {
    auto to = out.as<decltype(zero)>();
    for (size_t i = 0; i < values.size(); ++i) to[i] = static_cast<decltype(zero)>(values[i]);
  });
  return out;
}

double round_to(DType dtype, double value) {
  double rounded = value;
  with_type(dtype, [&](auto zero) { rounded = widen(narrow<decltype(zero)>(value)); });
  return rounded;
}

Tensor copy_strided(const Tensor& from, const Shape& shape, const Strides& strides, int64_t offset) {
  Tensor out({from.dtype(), shape});
  size_t bytes = size_of(from.dtype());
  Dims at = Dims::filled(shape.rank(), 0);
  std::byte* to = out.data();
  for (int64_t left = out.elements(); left > 0; --left, to += bytes) {
    std::memcpy(to, from.data() + static_cast<size_t>(offset) * bytes, bytes);
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
      offset += strides[axis];
      if (++at[axis] < shape[axis]) break;
      offset -= strides[axis] * shape[axis];
      at[axis] = 0;
    }
  }
  return out;
}

Tensor broadcast_to(const Tensor& tensor, const Shape& shape) {
  if (tensor.shape() == shape) return tensor;
  Strides own = contiguous_strides(tensor.shape()), strides = Dims::filled(shape.rank(), 0);
  for (int i = 0; i < tensor.shape().rank(); ++i)
    if (tensor.shape().back(i) != 1) strides[shape.rank() - 1 - i] = own.back(i);
  return copy_strided(tensor, shape, strides);
}

AxisView view_axis(const Shape& shape, int axis) {
  AxisView view{1, shape[axis], 1};
  for (int i = 0; i < axis; ++i) view.outer *= shape[i];
  for (int i = axis + 1; i < shape.rank(); ++i) view.inner *= shape[i];
  return view;
}

}  // namespace rung::reference
