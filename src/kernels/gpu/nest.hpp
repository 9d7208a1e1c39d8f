// A nest walks several strided operands through one shape, in plain numbers that a kernel takes by value.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#if defined(__CUDACC__) || defined(__HIP__)
#define RUNG_HOST_DEVICE __host__ __device__
#else
#define RUNG_HOST_DEVICE
#endif

namespace rung::gpu {

constexpr int kMaxNestRank = 8;

// Divides numbers below 2^31 by a number that is known beforehand, by a multiplication and a shift.
struct Divisor {
  uint32_t value = 1, multiplier = 1, shift = 0;
  Divisor() = default;
  explicit Divisor(uint32_t divisor) : value(divisor) {
    while (uint64_t{1} << shift < divisor) ++shift;
    multiplier = static_cast<uint32_t>(((uint64_t{1} << 32) * ((uint64_t{1} << shift) - divisor)) / divisor + 1);
  }
  RUNG_HOST_DEVICE uint32_t divide(uint32_t x) const {
    return static_cast<uint32_t>(((uint64_t{x} * multiplier >> 32) + x) >> shift);
  }
};

// Axes are from the innermost out; strides are in elements, 0 where an operand repeats.
template <int kOperands>
struct Nest {
  uint32_t count = 1;  // positions: the product of all sizes, below 2^31
  int32_t rank = 0;
  Divisor size[kMaxNestRank];
  int64_t stride[kOperands][kMaxNestRank] = {};

  // Adds to each offset the operand's elements from its first to position `index`.
  RUNG_HOST_DEVICE void locate(uint32_t index, int64_t (&offsets)[kOperands]) const {
    for (int axis = 0; axis < rank; ++axis) {
      const uint32_t next = size[axis].divide(index), at = index - next * size[axis].value;
      for (int i = 0; i < kOperands; ++i) offsets[i] += at * stride[i][axis];
      index = next;
    }
  }
};

}  // namespace rung::gpu
