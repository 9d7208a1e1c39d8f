// Values of 8 bits as pairs of f16, exactly, and the numbers that they are multiplied by, which a power of two brings
// into the range of f16.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/portable.cuh"

namespace rung::gpu {

// The four values of a word, the first one lowest.
struct TwoPairs {
  uint32_t low, high;
};
// Takes i8. An integer plus 128 is the lower byte of the f16 that is 1024 larger.
__device__ inline TwoPairs widen_i8(uint32_t word) {
  constexpr uint32_t kThousands = 0x64646464u, kThousandAndHalf = 0x64806480u;  // 1024 + 128, twice
  const auto pair = [&](uint32_t selector) {
    uint32_t both;
    asm("sub.rn.f16x2 %0, %1, %2;"
        : "=r"(both)
        : "r"(__byte_perm(word ^ 0x80808080u, kThousands, selector)), "r"(kThousandAndHalf));
    return both;
  };
  return {pair(0x4140), pair(0x4342)};
}
__device__ inline TwoPairs widen_e4m3(uint32_t word) {
  TwoPairs pairs;
  asm("{\n.reg .b16 low, high;\nmov.b32 {low, high}, %2;\n"
      "cvt.rn.f16x2.e4m3x2 %0, low;\ncvt.rn.f16x2.e4m3x2 %1, high;\n}"
      : "=r"(pairs.low), "=r"(pairs.high)
      : "r"(word));
  return pairs;
}

// Returns the bits of the largest magnitude of two pairs of 16-bit floats.
__device__ inline uint32_t larger_of(uint32_t a, uint32_t b) {
  const uint32_t low = max(a & 0x7fffu, b & 0x7fffu), high = max(a >> 16 & 0x7fffu, b >> 16 & 0x7fffu);
  return max(low, high);
}
// Returns the power of two that brings the largest magnitude of a row between 2^14 and 2^15, or 2^100.
__device__ inline float scale_to_f16(float largest) {
  const int exponent = static_cast<int>(as_bits(largest) >> 23) - 127;
  return as_float(static_cast<uint32_t>(127 + min(14 - exponent, 100)) << 23);
}
template <class X>
__device__ inline uint32_t scaled_to_f16(uint32_t pair, float scale) {
  const float2 x = unpack<X>(pair);
  return pack<f16>(x.x * scale, x.y * scale);
}

}  // namespace rung::gpu
