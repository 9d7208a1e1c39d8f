// Numbers of 4 and 8 bits in groups: those of 4 bits become pairs of f16 with their group's scale and offset in them,
// sums of those of 8 bits are multiplied by the scale.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/linear/byte_pairs_sm90.cuh"

namespace rung::gpu {

// 2^16, by which pairs of widen_nibbles() are too small: all that the largest scales make of a number fits f16 so.
constexpr float kOfNibbles = 65536.0f;

__device__ inline uint32_t subtract_pairs(uint32_t a, uint32_t b) {
  uint32_t both;
  asm("sub.rn.f16x2 %0, %1, %2;" : "=r"(both) : "r"(a), "r"(b));
  return both;
}
__device__ inline uint32_t multiply_pairs(uint32_t a, uint32_t b) {
  uint32_t both;
  asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(both) : "r"(a), "r"(b));
  return both;
}
__device__ inline uint32_t multiply_add_pairs(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t both;
  asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(both) : "r"(a), "r"(b), "r"(c));
  return both;
}

// A group's numbers n of 4 bits, 0 to 15, become 2^-16 (scale (n - 8) + 8 offset). The 4 bits alone are the f16 2^-24 n
// where they are the lowest, and 2^-20 n where they are the next ones, so that one instruction does the rest, and
// exactly: the result is 2^-16 times an integer of at most 2048.
struct NibbleLine {
  uint32_t scale_of_low, scale_of_high, offset;  // pairs of the same f16: 2^8 scale, 2^4 scale, 2^-13 (offset - scale)
};
// Takes the i-th of the lowest two bytes of each: scale plus 128, and offset plus 128.
__device__ inline NibbleLine nibble_line(uint32_t scales, uint32_t offsets, uint32_t i) {
  constexpr uint32_t kThousands = 0x64646464u;  // upper bytes of 1024 and what the lower one is
  const uint32_t selector = i == 0 ? 0x4040u : 0x4141u;
  const uint32_t scale = __byte_perm(scales, kThousands, selector), offset = __byte_perm(offsets, kThousands, selector);
  const uint32_t of_high = multiply_add_pairs(scale, 0x4c004c00u, 0xf480f480u);  // 16 scale - 16 (1024 + 128)
  return {multiply_pairs(of_high, 0x4c004c00u), of_high, multiply_pairs(subtract_pairs(offset, scale), 0x08000800u)};
}

// The eight numbers of a word, the first one lowest, as pairs of numbers 0 and 4, 1 and 5, 2 and 6, 3 and 7.
struct FourPairs {
  TwoPairs first, second;
};
__device__ inline FourPairs widen_nibbles(uint32_t word, const NibbleLine& line) {
  const auto low = [&](uint32_t from) {
    return multiply_add_pairs(from & 0x000f000fu, line.scale_of_low, line.offset);
  };
  const auto high = [&](uint32_t from) {
    return multiply_add_pairs(from & 0x00f000f0u, line.scale_of_high, line.offset);
  };
  return {{low(word), high(word)}, {low(word >> 8), high(word >> 8)}};
}
// Puts eight f16 in the order in which widen_nibbles() has their numbers.
__device__ inline uint4 in_order_of_nibbles(const uint4& x) {
  constexpr uint32_t kLow = 0x5410u, kHigh = 0x7632u;
  return {__byte_perm(x.x, x.z, kLow), __byte_perm(x.x, x.z, kHigh), __byte_perm(x.y, x.w, kLow),
          __byte_perm(x.y, x.w, kHigh)};
}

// Returns the place of the i-th eight columns of x in a chunk of 256. Four neighbouring lanes multiply four
// neighbouring groups of 32 columns. So the first quarters of all groups stand together, then the second ones, each
// with the groups in another order: neither lanes that store nor lanes that load meet in a bank.
__device__ inline uint32_t place_for_nibbles(uint32_t i) {
  constexpr uint32_t kGroups = 8, kParts = 4;  // of a chunk, and of a group
  return i % kParts * kGroups + (i / kParts ^ 2 * (i % kParts));
}

// Returns the i-th byte, of 128 plus a scale, as the scale. The byte is the lower part of 2^23 plus itself.
__device__ inline float scale_in(uint32_t bytes, uint32_t i) {
  return as_float(__byte_perm(bytes, 0x4b000000u, 0x7440u | i)) - 8388736.0f;
}

}  // namespace rung::gpu
