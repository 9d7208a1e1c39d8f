// Divides room as the published library's strategy "longest first" does.
// SPDX-License-Identifier: Apache-2.0
#include "text/cut.hpp"

#include <algorithm>

namespace rung::text {

std::pair<size_t, size_t> kept_of_pair(size_t first, size_t second, size_t room) {
  if (first + second <= room) return {first, second};
  const bool swapped = first > second;
  size_t shorter = std::min(first, second);
  size_t longer = shorter > room ? shorter : std::max(shorter, room - shorter);
  if (shorter + longer > room) {
    shorter = room / 2;
    longer = shorter + room % 2;
  }
  return swapped ? std::pair(longer, shorter) : std::pair(shorter, longer);
}

}  // namespace rung::text
