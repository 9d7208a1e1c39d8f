// Rows in 8 bits with a scale each. Weights of billions of elements pass through here, so rows are read as f32.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "ir/quantised.hpp"
#include "ir/with_type.hpp"
#include "reference/group_fit.hpp"
#include "reference/operations.hpp"
#include "reference/values.hpp"

namespace rung::reference {
namespace {

template <class T>
float scale_of(std::span<const T> row, float most) {
  float largest = 0;
  for (const T x : row) {
    const float size = std::fabs(static_cast<float>(x));
    if (!(size <= largest)) largest = size;  // a NaN stays, as numbers are not above it
    if (std::isnan(largest)) break;
  }
  return largest == 0 ? 1.0f : largest / most;
}

template <class To>
To rounded(float value) {
  if constexpr (std::is_same_v<To, int8_t>)
    return rounded_to_i8(value);
  else
    return To(value);
}

// Calls f with each row of x, as floats of its type, and its number.
template <class F>
void each_row(const Tensor& x, F&& f) {
  with_type(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (kStoredFloat<T> || std::is_same_v<T, float>) {
      const auto width = static_cast<size_t>(x.shape().back()), rows = width ? x.as<T>().size() / width : 0;
      for (size_t row = 0; row < rows; ++row) f(x.as<T>().subspan(row * width, width), row);
    }
  });
}

// Computes the results in turn of a quantize() with groups.
std::vector<Tensor> in_groups(const Quantize& op, const Tensor& x) {
  std::vector<Type> types{x.type()};
  const Type first = *infer_type(op, types);
  std::vector<Tensor> results;
  for (const Type& type : result_types(op, types, first)) results.emplace_back(type);
  const bool has_offsets = results.size() > 3;
  std::vector<float> values;
  each_row(x, [&](auto row, size_t at) {
    values.resize(row.size());
    for (size_t i = 0; i < row.size(); ++i) values[i] = static_cast<float>(row[i]);
    const size_t groups = row.size() / static_cast<size_t>(op.group), width = has_offsets ? row.size() / 2 : row.size();
    auto* numbers = reinterpret_cast<uint8_t*>(results[0].data()) + at * width;
    const auto of_groups = [&](size_t i) { return results[i].template as<int8_t>().subspan(at * groups, groups); };
    quantise_in_groups(values, {.numbers = {numbers, width},
                                .scale = results[1].template as<float>().data() + at,
                                .group_scale = of_groups(2),
                                .group_offset = has_offsets ? of_groups(3) : std::span<int8_t>{}});
  });
  return results;
}

}  // namespace

std::vector<Tensor> compute_together(const Quantize& op, const Arguments& arguments) {
  return in_groups(op, arguments[0]);
}

Result<Tensor> compute(const Quantize& op, const Arguments& arguments) {
  if (op.group > 0) return in_groups(op, arguments[0])[0];
  Tensor out(arguments.result);
  with_type(op.to, [&](auto zero) {
    using To = decltype(zero);
    each_row(arguments[0], [&](auto row, size_t at) {
      const float scale = scale_of(row, largest_of(op.to));
      To* to = out.as<To>().data() + at * row.size();
      for (size_t i = 0; i < row.size(); ++i) to[i] = rounded<To>(static_cast<float>(row[i]) / scale);
    });
  });
  return out;
}

// Computes the rows' scales, or those of groups.
Result<Tensor> compute_further(const Quantize& op, const Arguments& arguments, size_t i) {
  if (op.group > 0) return in_groups(op, arguments[0])[i];
  Tensor out(arguments.result);
  std::ranges::fill(out.as<float>(), 1.0f);
  each_row(arguments[0], [&](auto row, size_t at) { out.as<float>()[at] = scale_of(row, largest_of(op.to)); });
  return out;
}

}  // namespace rung::reference
