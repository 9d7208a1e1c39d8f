// Compares tensors: form first, then values.
// SPDX-License-Identifier: Apache-2.0
#include "measure/compare.hpp"

#include <algorithm>
#include <bit>

#include "ir/with_type.hpp"

namespace rung {
namespace {

double unit_roundoff(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return 0x1p-24;
    case DType::f16:
      return 0x1p-11;
    case DType::bf16:
      return 0x1p-8;
    case DType::f8e4m3fn:
    case DType::f8e4m3fnuz:
      return 0x1p-4;
    default:
      return 0;
  }
}

// Maps a float's bits to integers that count representable values in order.
template <class Signed, class Unsigned>
int64_t ordered(Unsigned bits) {
  auto value = static_cast<Signed>(bits);
  return value < 0 ? -static_cast<int64_t>(static_cast<Signed>(value & std::numeric_limits<Signed>::max())) : value;
}
int64_t ordered(float x) { return ordered<int32_t>(std::bit_cast<uint32_t>(x)); }
int64_t ordered(bf16 x) { return ordered<int16_t>(x.bits); }
template <int mantissa, int bias, Float8Codes codes>
int64_t ordered(Float8<mantissa, bias, codes> x) {
  return ordered<int8_t>(x.bits);
}
int64_t ordered(f16 x) { return ordered<int16_t>(x.bits); }
template <class T>
double ulps_between(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return std::abs(static_cast<double>(a) - static_cast<double>(b));
  else
    return static_cast<double>(std::abs(ordered(a) - ordered(b)));
}

template <class T>
double value_of(T x) {
  if constexpr (kStoredFloat<T>)
    return static_cast<float>(x);
  else
    return static_cast<double>(x);
}

// A pair holds both tensors' elements as T.
template <class T>
struct Pair {
  std::span<const T> got, want;
};

template <class T>
bool is_number(T x) {
  return std::isfinite(value_of(x));
}
template <class T>
size_t count_numbers(std::span<const T> values) {
  return static_cast<size_t>(std::count_if(values.begin(), values.end(), is_number<T>));
}

// Returns whether the two are both numbers, both NaN, or the same infinity.
template <class T>
bool of_one_kind(T got, T want) {
  const double g = value_of(got), w = value_of(want);
  if (std::isfinite(w)) return std::isfinite(g);
  return std::isnan(w) ? std::isnan(g) : g == w;
}

std::string text_of(double value) { return std::isnan(value) ? "nan" : fmt::format("{}", value); }  // of either sign

// Says which NaNs or infinities stand in the wrong places; empty if none does.
template <class T>
std::string compare_kinds(Pair<T> pair, const Shape& shape) {
  size_t first = 0, wrong = 0;
  for (size_t i = pair.want.size(); i-- > 0;)
    if (!of_one_kind(pair.got[i], pair.want[i])) first = i, ++wrong;
  if (wrong == 0) return {};
  Shape at = shape;
  auto rest = static_cast<int64_t>(first);
  for (int axis = shape.rank() - 1; axis >= 0; --axis) at[axis] = rest % shape[axis], rest /= shape[axis];
  return fmt::format(
      "element {}: got {}, wanted {}; {} of {} elements are a number in one and not in the other, or not alike", at,
      text_of(value_of(pair.got[first])), text_of(value_of(pair.want[first])), wrong, pair.want.size());
}

// Fills in how far the numbers of one type are apart.
template <class T>
void measure(Pair<T> pair, Comparison& result) {
  double error = 0, got_norm = 0, want_norm = 0, product = 0;
  result.max_abs = result.max_ulp = 0;
  for (size_t i = 0; i < pair.want.size(); ++i) {
    if (!is_number(pair.want[i])) continue;
    double g = value_of(pair.got[i]), w = value_of(pair.want[i]);
    error += (g - w) * (g - w), got_norm += g * g, want_norm += w * w, product += g * w;
    result.max_abs = std::max(result.max_abs, std::abs(g - w));
    result.max_ulp = std::max(result.max_ulp, ulps_between(pair.got[i], pair.want[i]));
  }
  result.rel_l2 = error == 0 ? 0 : std::sqrt(error / want_norm);
  result.cosine = error == 0 ? 1 : product / std::sqrt(got_norm * want_norm);
  double rms = std::sqrt(want_norm / static_cast<double>(count_numbers(pair.want)));
  result.worst_element = 0;
  for (size_t i = 0; i < pair.want.size(); ++i) {
    if (!is_number(pair.want[i])) continue;
    double g = value_of(pair.got[i]), w = value_of(pair.want[i]);
    if (g != w) result.worst_element = std::max(result.worst_element, std::abs(g - w) / std::max(std::abs(w), rms));
  }
}

// There is nothing in which two tensors without elements could differ.
void measure_nothing(Comparison& result) {
  result.non_finite = 0;
  result.rel_l2 = result.max_abs = result.max_ulp = result.worst_element = 0;
  result.cosine = 1;
}

bool is_missing(const Tensor& tensor) { return tensor.elements() > 0 && !tensor.data(); }

// Says why the values are not right; empty if they are.
std::string judge(const Comparison& result, const Tolerance& tolerance) {
  if (!std::isfinite(result.rel_l2))
    return fmt::format("the reference is all zeros: got values up to {:.3g}, wanted zeros", result.max_abs);
  if (!(result.rel_l2 <= tolerance.rel_l2))
    return fmt::format("relative L2 error {:.3g}, wanted at most {:.3g}", result.rel_l2, tolerance.rel_l2);
  if (!(result.worst_element <= tolerance.element))
    return fmt::format("worst element is off by {:.3g} of its size, wanted at most {:.3g}", result.worst_element,
                       tolerance.element);
  return {};
}

template <class T>
std::string compare_values(Pair<T> pair, const Shape& shape, const Tolerance& tolerance, Comparison& result) {
  result.non_finite = pair.got.size() - count_numbers(pair.got);
  if (std::string reason = compare_kinds(pair, shape); !reason.empty()) return reason;
  if (count_numbers(pair.want) == 0) return "the reference holds no number to compare";
  measure(pair, result);
  bool exact = std::is_integral_v<T>;
  return judge(result, exact ? Tolerance{} : tolerance);
}

template <class T>
std::string compare_as(const Tensor& got, const Tensor& want, const Tolerance& tolerance, Comparison& result) {
  return compare_values(Pair<T>{got.as<T>(), want.as<T>()}, want.shape(), tolerance, result);
}

std::string compare_contents(const Tensor& got, const Tensor& want, const Tolerance& tolerance, Comparison& result) {
  return with_type(want.dtype(), [&](auto zero) { return compare_as<decltype(zero)>(got, want, tolerance, result); });
}

}  // namespace

Tolerance tolerance_for(DType result, int64_t reduction_length) {
  if (!is_float(result)) return {};
  double rounding = unit_roundoff(result);
  double summing = (4 + std::sqrt(static_cast<double>(std::max<int64_t>(reduction_length, 1)))) * 0x1p-24;
  return {rounding + summing, 2 * rounding + 4 * summing};
}

Tolerance low_precision_tolerance(double baseline_rel_l2) { return {1.25 * baseline_rel_l2, INFINITY}; }

Comparison compare(std::string name, const Tensor& got, const Tensor& want, const Tolerance& tolerance) {
  Comparison result;
  result.name = std::move(name);
  result.same_count = got.elements() == want.elements();
  result.same_shape = got.shape() == want.shape();
  result.same_dtype = got.dtype() == want.dtype();
  result.reason.clear();
  if (is_missing(got) || is_missing(want))
    result.reason = fmt::format("{} is missing", is_missing(got) ? "the result" : "the reference");
  else if (!result.same_shape || !result.same_dtype)
    result.reason = fmt::format("got {}, wanted {}", got.type(), want.type());
  else if (want.elements() == 0)
    measure_nothing(result);
  else
    result.reason = compare_contents(got, want, tolerance, result);
  result.passed = result.reason.empty();
  return result;
}

Verification verify_outputs(const std::vector<std::string>& names, const std::vector<Tensor>& got,
                            const std::vector<Tensor>& want, const Tolerance& tolerance) {
  Verification result;
  if (want.empty() || got.size() != want.size() || names.size() != want.size()) {
    result.reason = fmt::format("got {} outputs and {} names, wanted {} of each", got.size(), names.size(),
                                want.empty() ? "at least one" : fmt::to_string(want.size()));
    return result;
  }
  result.reason.clear();
  for (size_t i = 0; i < want.size(); ++i) {
    const bool widens = is_narrow(got[i].dtype()) && want[i].dtype() == DType::f32 && got[i].data();
    const Tensor values = widens ? convert(got[i], DType::f32) : got[i];
    const auto& output = result.outputs.emplace_back(compare(names[i], values, want[i], tolerance));
    if (!output.passed && result.reason.empty()) result.reason = fmt::format("{}: {}", output.name, output.reason);
  }
  result.passed = result.reason.empty();
  return result;
}

}  // namespace rung
