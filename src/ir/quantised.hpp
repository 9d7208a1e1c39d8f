// The types of 8 bits in which values are stored beside a scale: their largest numbers, and how integers are rounded.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/float8.hpp"
#include "ir/dtype.hpp"

namespace rung {

// Returns 448 of f8e4m3fn, 240 of f8e4m3fnuz, 127 of i8. Wants is_quantised(dtype).
inline float largest_of(DType dtype) {
  const auto most = []<class F>(F number) { return number.bits = F::kMost, static_cast<float>(number); };
  if (dtype == DType::i8) return std::numeric_limits<int8_t>::max();
  return dtype == DType::f8e4m3fn ? most(f8e4m3fn()) : most(f8e4m3fnuz());
}

// Rounds to the nearest number of i8 from -127 on, ties to even; limited to these, and 0 for a NaN.
inline int8_t rounded_to_i8(double value) {
  return std::isnan(value) ? int8_t{0} : static_cast<int8_t>(std::clamp(std::nearbyint(value), -127.0, 127.0));
}

}  // namespace rung
