// A confidence interval's two ends.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace rung {

struct Interval {
  double lo = 0, hi = 0;
};

}  // namespace rung
