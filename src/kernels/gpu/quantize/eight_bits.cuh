// Rounds f32 to elements of 8 bits.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/vendor/nearest_i8.cuh"

namespace rung::gpu {

// Returns the bits of nearest_i8() in the lowest byte.
__device__ inline uint32_t i8_bits(float x) { return static_cast<uint32_t>(nearest_i8(x)) & 0xffu; }

// Rounds `n` neighbours to i8 or to the machine's e4m3, and packs them into words; n is 1 or a multiple of 4.
template <bool to_i8, int n>
__device__ inline void pack_eight_bits(uint32_t (&words)[(n + 3) / 4], const float (&x)[n]) {
  if constexpr (n == 1) {
    words[0] = to_i8 ? i8_bits(x[0]) : pack_4<f8e4m3>(make_float4(x[0], 0, 0, 0)) & 0xffu;
  } else {
#pragma unroll
    for (int i = 0; i < n / 4; ++i) {
      const float* from = x + 4 * i;
      words[i] = to_i8 ? i8_bits(from[0]) | i8_bits(from[1]) << 8 | i8_bits(from[2]) << 16 | i8_bits(from[3]) << 24
                       : pack_4<f8e4m3>(make_float4(from[0], from[1], from[2], from[3]));
    }
  }
}

__device__ inline bool is_eight_bits(DType type) { return type == DType::i8 || type == DType::f8e4m3fn; }
// Rounds four neighbours to i8 or to e4m3, the first one lowest.
__device__ inline uint32_t pack_as(DType type, float4 x) {
  if (type != DType::i8) return pack_4<f8e4m3>(x);
  return i8_bits(x.x) | i8_bits(x.y) << 8 | i8_bits(x.z) << 16 | i8_bits(x.w) << 24;
}

}  // namespace rung::gpu
