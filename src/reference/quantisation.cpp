// Rows in 8 bits with a scale each. Weights of billions of elements pass through here, so rows are read as f32.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "base/divide.hpp"
#include "base/parallel.hpp"
#include "ir/quantised.hpp"
#include "ir/with_type.hpp"
#include "reference/group_fit.hpp"
#include "reference/operations.hpp"
#include "reference/values.hpp"

namespace rung::reference {
namespace {

constexpr size_t kElementsTogether = 1 << 14;  // that a thread fits before it asks for more

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

struct RowRange {
  size_t begin, end;
};
// Calls f with each row of x in a range, as floats of its type, and its number.
template <class F>
void each_row(const Tensor& x, RowRange rows, F&& f) {
  with_type(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (kStoredFloat<T> || std::is_same_v<T, float>) {
      const auto width = static_cast<size_t>(x.shape().back());
      for (size_t row = rows.begin; row < rows.end; ++row) f(x.as<T>().subspan(row * width, width), row);
    }
  });
}
template <class F>
void each_row(const Tensor& x, F&& f) {
  const int64_t width = x.shape().back();
  each_row(x, {0, width ? static_cast<size_t>(x.elements() / width) : 0}, f);
}

// Returns where the results of one row of `width` elements go.
GroupedRow grouped_row(std::vector<Tensor>& results, size_t row, size_t width, size_t groups) {
  const bool has_offsets = results.size() > 3;
  const size_t bytes = has_offsets ? width / 2 : width;
  const auto of_groups = [&](size_t i) { return results[i].as<int8_t>().subspan(row * groups, groups); };
  return {.numbers = {reinterpret_cast<uint8_t*>(results[0].data()) + row * bytes, bytes},
          .scale = results[1].as<float>().data() + row,
          .group_scale = of_groups(2),
          .group_offset = has_offsets ? of_groups(3) : std::span<int8_t>{}};
}

// Computes the results in turn of a quantize() with groups. Rows are fitted on all cores: a fit takes much longer than
// the reading of the weights.
std::vector<Tensor> in_groups(const Quantize& op, const Tensor& x) {
  std::vector<Type> types{x.type()};
  const Type first = *infer_type(op, types);
  std::vector<Tensor> results;
  for (const Type& type : result_types(op, types, first)) results.emplace_back(type);
  const auto width = static_cast<size_t>(x.shape().back()), groups = width / static_cast<size_t>(op.group);
  if (width == 0) return results;
  const size_t rows = static_cast<size_t>(x.elements()) / width, together = divide_up(kElementsTogether, width);
  parallel_for(divide_up(rows, together), [&](size_t part) {
    std::vector<float> values(width);
    each_row(x, {part * together, std::min(rows, (part + 1) * together)}, [&](auto row, size_t at) {
      std::ranges::transform(row, values.begin(), [](auto element) { return static_cast<float>(element); });
      quantise_in_groups(values, grouped_row(results, at, width, groups));
    });
  });
  return results;
}

// Calls f with each row of x, in whose outliers there are zeros, and its number.
template <class F>
void each_row_without_outliers(const Quantize& op, const Tensor& x, F&& f) {
  each_row(x, [&](auto row, size_t at) {
    std::vector<typename decltype(row)::value_type> others(row.begin(), row.end());
    for (const int64_t column : op.outliers) others[static_cast<size_t>(column)] = {};
    f(std::span(std::as_const(others)), at);
  });
}

// Returns x in the columns of the outliers.
Tensor outliers_of(const Quantize& op, const Arguments& arguments) {
  Tensor out(arguments.result);
  each_row(arguments[0], [&](auto row, size_t at) {
    float* to = out.as<float>().data() + at * op.outliers.size();
    for (const int64_t column : op.outliers) *to++ = static_cast<float>(row[static_cast<size_t>(column)]);
  });
  return out;
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
    each_row_without_outliers(op, arguments[0], [&](auto row, size_t at) {
      const float scale = scale_of(row, largest_of(op.to));
      To* to = out.as<To>().data() + at * row.size();
      for (size_t i = 0; i < row.size(); ++i) to[i] = rounded<To>(static_cast<float>(row[i]) / scale);
    });
  });
  return out;
}

// Computes the rows' scales, those of groups, or outliers.
Result<Tensor> compute_further(const Quantize& op, const Arguments& arguments, size_t i) {
  if (op.group > 0) return in_groups(op, arguments[0])[i];
  if (i == 2) return outliers_of(op, arguments);
  Tensor out(arguments.result);
  std::ranges::fill(out.as<float>(), 1.0f);
  each_row_without_outliers(op, arguments[0],
                            [&](auto row, size_t at) { out.as<float>()[at] = scale_of(row, largest_of(op.to)); });
  return out;
}

}  // namespace rung::reference
