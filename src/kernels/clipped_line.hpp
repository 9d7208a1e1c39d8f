// A straight line between two limits, which ends products on every device, shared by host and device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <limits>

namespace rung {

// slope x + shift, but at least `low` and at most `high`; times x if it says so.
struct ClippedLine {
  float slope = 1, shift = 0;
  float low = -std::numeric_limits<float>::infinity(), high = std::numeric_limits<float>::infinity();
  bool times_x = false;
  friend bool operator==(const ClippedLine&, const ClippedLine&) = default;
};

}  // namespace rung
