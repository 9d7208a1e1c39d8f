// The largest number of each type of 8 bits in which values are stored beside a scale.
// SPDX-License-Identifier: Apache-2.0
#pragma once
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

}  // namespace rung
