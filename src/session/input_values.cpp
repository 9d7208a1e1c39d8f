// Checks ranges of integers, and floats for NaN and infinity.
// SPDX-License-Identifier: Apache-2.0
#include "session/input_values.hpp"

#include <algorithm>
#include <span>

#include "ir/bool_bytes.hpp"
#include "ir/finite.hpp"

namespace rung {
namespace {

template <class Integer>
Status check_range(const PlanInput& input, const std::byte* values) {
  std::span all(reinterpret_cast<const Integer*>(values), static_cast<size_t>(input.type.elements()));
  auto outside = std::find_if(all.begin(), all.end(), [&](Integer v) { return v < *input.first || v > *input.last; });
  if (outside == all.end()) return {};
  return mismatch("input '{}': got value {}, wanted {} to {}", input.name, *outside, *input.first, *input.last);
}

Status check_range(const PlanInput& input, const std::byte* values) {
  if (!input.first || !input.last) return {};
  if (input.type.dtype == DType::i64) return check_range<int64_t>(input, values);
  if (input.type.dtype == DType::i32) return check_range<int32_t>(input, values);
  return {};
}

}  // namespace

Status check_input_values(const PlanInput& input, const std::byte* values,
                          const std::function<Tolerates()>& tolerates) {
  RUNG_CHECK(check_range(input, values));
  RUNG_CHECK(check_bools("input", input.name, input.type, values));
  const NonFinite found = count_non_finite(input.type, values);
  if (may_be_in_input(found, tolerates)) return {};
  return refuse_input_floats(fmt::format("input '{}'", input.name), input.type, found, tolerates);
}

}  // namespace rung
