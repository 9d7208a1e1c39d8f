// Overflow-checked shapes.
// SPDX-License-Identifier: Apache-2.0
#include "ir/checked_shape.hpp"

#include <algorithm>

namespace rung {
namespace {

constexpr uint64_t kLimit = uint64_t{1} << 59;

}  // namespace

Result<Shape> checked_shape(std::span<const uint64_t> dims) {
  if (dims.size() > Dims::kMaxRank) return fail("got rank {}, wanted at most {}", dims.size(), Dims::kMaxRank);
  Shape shape;
  uint64_t elements = 1;
  for (uint64_t dim : dims) {
    if (dim > kLimit) return fail("got dimension {}, wanted at most {}", dim, kLimit);
    if (__builtin_mul_overflow(elements, std::max<uint64_t>(dim, 1), &elements) || elements > kLimit)
      return fail("the number of elements overflows");
    shape.push_back(static_cast<int64_t>(dim));
  }
  return shape;
}

}  // namespace rung
