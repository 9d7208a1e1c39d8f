// Adds up the errors of candidates.
// SPDX-License-Identifier: Apache-2.0
#include "measure/cuts.hpp"

#include <cmath>

namespace rung {

void CutErrors::add(std::span<const float, kCuts.size()> squared_errors) {
  for (size_t i = 0; i < kCuts.size(); ++i) sums_[i] += squared_errors[i];
}

float CutErrors::best() const {
  size_t best = 0;
  for (size_t i = 0; i < kCuts.size(); ++i) {
    if (!std::isfinite(sums_[i])) return kCuts.front();
    if (sums_[i] < sums_[best]) best = i;
  }
  return kCuts[best];
}

}  // namespace rung
