// Checks shapes for overflow.
// SPDX-License-Identifier: Apache-2.0
#include "ir/checked_shape.hpp"

#include <algorithm>

namespace rung {

bool within_limits(const Shape& shape) {
  int64_t elements = 1;
  for (int64_t dim : shape) {
    if (dim < 0 || __builtin_mul_overflow(elements, std::max<int64_t>(dim, 1), &elements)) return false;
    if (elements > kMaxElements) return false;
  }
  return true;
}

Result<Shape> checked_shape(std::span<const uint64_t> dims) {
  if (dims.size() > Dims::kMaxRank) return fail("got rank {}, wanted at most {}", dims.size(), Dims::kMaxRank);
  Shape shape;
  for (uint64_t dim : dims) {
    if (dim > kMaxElements) return fail("got dimension {}, wanted at most {}", dim, kMaxElements);
    shape.push_back(static_cast<int64_t>(dim));
  }
  if (!within_limits(shape)) return fail("the number of elements overflows");
  return shape;
}

}  // namespace rung
