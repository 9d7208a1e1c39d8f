// Shares items among parts, one part's items behind another's; the parts differ by little.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>

namespace rung::cpu {

struct Range {
  int64_t begin = 0, end = 0;
  int64_t count() const { return end - begin; }
};

// Returns the items of one of `parts` parts of `count` items; parts differ by at most one `grain`.
inline Range share(int64_t count, int part, int parts, int64_t grain = 1) {
  int64_t blocks = (count + grain - 1) / grain;
  int64_t first = blocks * part / parts * grain, last = blocks * (part + 1) / parts * grain;
  return {first < count ? first : count, last < count ? last : count};
}

// Returns one of `pieces` pieces of `whole`; they meet at multiples of `grain`, and some are empty if these are few.
inline Range piece(Range whole, int index, int pieces, int64_t grain) {
  const auto border = [&](int at) {
    const int64_t even = whole.begin + whole.count() * at / pieces;
    if (at == 0 || at == pieces) return even;
    return std::min(whole.end, (even + grain - 1) / grain * grain);
  };
  return {border(index), border(index + 1)};
}

}  // namespace rung::cpu
