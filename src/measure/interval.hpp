// A confidence interval's two ends.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>

namespace rung {

struct Interval {
  double lo = 0, hi = 0;
};

// Returns whether the interval of a ratio rules out anything that matters. An interval of a few pairs may reach from
// next to nothing to next to everything: it holds 1, and its ends are more than a factor of ten apart.
inline bool is_telling(const Interval& interval) {
  if (!std::isfinite(interval.lo) || !std::isfinite(interval.hi) || interval.lo <= 0) return false;
  return interval.lo > 1 || interval.hi < 1 || interval.hi <= 10 * interval.lo;
}

}  // namespace rung
