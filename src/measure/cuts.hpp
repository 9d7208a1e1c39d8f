// Where values are cut off before they are rounded to integers of 8 bits.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <span>

namespace rung {

// Candidates, as parts of the largest |x|. The error is flat near its minimum, so that few of them do.
inline constexpr std::array<float, 6> kCuts{1, 0.8f, 0.65f, 0.5f, 0.38f, 0.28f};

// Sums of squared errors of values that were cut off at each candidate and rounded.
class CutErrors {
 public:
  void add(std::span<const float, kCuts.size()> squared_errors);
  float best() const;  // of kCuts; the largest of equal ones, and of those where a sum is not finite

 private:
  std::array<double, kCuts.size()> sums_{};
};

}  // namespace rung
