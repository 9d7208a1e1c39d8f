// How large values are: counts of |x|, and the percentiles that follow.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace rung {

class Sizes {
 public:
  void add(std::span<const float> values);  // of any sign; NaN counts as larger than every number
  // Returns a size that at least `percentile` percent of all values do not exceed: the end of the step that holds it,
  // of 1/128 of a power of two; for 100 the largest size itself. Without values 0.
  float at(double percentile) const;

 private:
  std::vector<uint64_t> counts_;  // by the upper half of |x|, in f32
  uint64_t count_ = 0;
  float largest_ = 0;
};

}  // namespace rung
