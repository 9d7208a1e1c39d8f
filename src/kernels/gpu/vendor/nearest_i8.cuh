// The rounding of f32 to integers of 8 bits, with each vendor's instructions.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/portable.cuh"

namespace rung::gpu {

// Returns the bits of the nearest integer in the lowest byte, ties to even, of a number of -127.5..127.5.
__device__ inline uint32_t small_i8_bits(float x) {
  constexpr float kUnits = 12582912.0f;  // 1.5 * 2^23: its last place is 1
  return as_bits(x + kUnits) & 0xffu;
}

// Returns the nearest integer of -127..127, ties to even, and 0 for a NaN.
#ifdef __HIP__
__device__ inline int nearest_i8(float x) {
  return static_cast<int8_t>(small_i8_bits(x != x ? 0.0f : x > 127.0f ? 127.0f : fmaxf(x, -127.0f)));
}
#else
// The conversion limits the number without a branch.
__device__ inline int nearest_i8(float x) {
  int y;
  asm("cvt.rni.sat.s8.f32 %0, %1;" : "=r"(y) : "f"(x));
  return max(y, -127);
}
#endif

}  // namespace rung::gpu
