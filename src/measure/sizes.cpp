// Counts values by sign-less exponent and the first seven bits behind it, which is the upper half of a float.
// SPDX-License-Identifier: Apache-2.0
#include "measure/sizes.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace rung {

void Sizes::add(std::span<const float> values) {
  counts_.resize(size_t{1} << 15);
  for (const float value : values) {
    const float size = std::abs(value);
    ++counts_[std::bit_cast<uint32_t>(size) >> 16];
    if (!std::isnan(largest_) && !(size <= largest_)) largest_ = size;
  }
  count_ += values.size();
}

float Sizes::at(double percentile) const {
  const double wanted = std::ceil(percentile / 100 * static_cast<double>(count_));
  uint64_t seen = 0;
  for (uint32_t step = 0; step < counts_.size(); ++step) {
    seen += counts_[step];
    if (seen > 0 && static_cast<double>(seen) >= wanted)
      return std::fmin(largest_, std::bit_cast<float>((step << 16) | 0xffff));
  }
  return largest_;
}

}  // namespace rung
