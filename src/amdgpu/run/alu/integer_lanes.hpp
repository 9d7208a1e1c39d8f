// Parts of integer instructions beyond an expression: fields, counts, saturation, sums of differences.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "amdgpu/run/alu/lane_types.hpp"

namespace rung::amdgpu::RUNG_LANES {

template <class T>
RUNG_INLINE T least(T a, T b) {
  return a < b ? a : b;
}
template <class T>
RUNG_INLINE T most(T a, T b) {
  return a > b ? a : b;
}
template <class T>
RUNG_INLINE T middle(T a, T b, T c) {
  return most(least(a, b), least(most(a, b), c));
}

// Returns the value of T that is nearest to an exact value.
template <class T>
RUNG_INLINE T saturate(i64 x) {
  constexpr i64 kLeast = std::numeric_limits<T>::min(), kMost = std::numeric_limits<T>::max();
  return static_cast<T>(x < kLeast ? kLeast : x > kMost ? kMost : x);
}
RUNG_INLINE i32 saturate_i32(u32 wrapped, bool overflows, bool positive) {
  return static_cast<i32>(overflows ? (positive ? 0x7fffffffu : 0x80000000u) : wrapped);
}
RUNG_INLINE i32 add_saturated(i32 a, i32 b) {
  const u32 sum = static_cast<u32>(a) + static_cast<u32>(b);
  return saturate_i32(sum, static_cast<i32>((static_cast<u32>(a) ^ sum) & (static_cast<u32>(b) ^ sum)) < 0, a >= 0);
}
RUNG_INLINE i32 subtract_saturated(i32 a, i32 b) {
  const u32 rest = static_cast<u32>(a) - static_cast<u32>(b);
  return saturate_i32(rest, static_cast<i32>((static_cast<u32>(a) ^ rest) & static_cast<u32>(a ^ b)) < 0, a >= 0);
}

// Returns the low 24 bits.
RUNG_INLINE i32 low24(i32 x) { return static_cast<i32>(static_cast<u32>(x) << 8) >> 8; }
RUNG_INLINE u32 low24(u32 x) { return x & 0xffffff; }

RUNG_INLINE u32 field(u32 x, u32 offset, u32 width) { return (x >> (offset & 31)) & ((u32{1} << (width & 31)) - 1); }
RUNG_INLINE i32 signed_field(i32 x, u32 offset, u32 width) {
  const u32 most_bits = 32 - (offset & 31), bits_wanted = width & 31;
  const u32 count = bits_wanted < most_bits ? bits_wanted : most_bits;
  const u32 at_top = static_cast<u32>(x >> (offset & 31)) << ((32 - count) & 31);
  return count == 0 ? 0 : static_cast<i32>(at_top) >> ((32 - count) & 31);
}
RUNG_INLINE u32 reversed(u32 x) {
  x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
  x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
  x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
  return __builtin_bswap32(x);
}
RUNG_INLINE u32 first_from_top(u32 x) { return x == 0 ? ~u32{0} : static_cast<u32>(std::countl_zero(x)); }
RUNG_INLINE u32 first_unlike_sign(u32 x) { return first_from_top(static_cast<i32>(x) < 0 ? ~x : x); }
RUNG_INLINE u32 first_from_bottom(u32 x) { return x == 0 ? ~u32{0} : static_cast<u32>(std::countr_zero(x)); }
RUNG_INLINE u32 count_bits(u32 x) {
  x -= x >> 1 & 0x55555555;
  x = (x & 0x33333333) + (x >> 2 & 0x33333333);
  return ((x + (x >> 4)) & 0x0f0f0f0f) * 0x01010101 >> 24;
}
// Counts bits of `set` at lanes below this one, in the half of the wave that begins at lane `first`.
RUNG_INLINE u32 lanes_before(u32 set, u32 lane, u32 first) {
  const u32 below = lane < first ? 0 : lane - first >= 32 ? ~u32{0} : (u32{1} << ((lane - first) & 31)) - 1;
  return count_bits(set & below);
}

// Returns for each bit the bit of `table` at the number that the three sources' bits form, a's first.
RUNG_INLINE u32 look_up(u32 a, u32 b, u32 c, i32 table) {
  u32 result = 0;
  for (int row = 0; row < 8; ++row) {
    const u32 here = (row & 4 ? a : ~a) & (row & 2 ? b : ~b) & (row & 1 ? c : ~c);
    result |= table >> row & 1 ? here : 0;
  }
  return result;
}

// Returns byte `n` of v_perm_b32's result: 0..3 of b, 4..7 of a, 8..11 the signs of their halves, 12 zeros, above:
// ones. All is in 32 bits, 8 lanes at a time by AVX2: 64-bit shifts took five times as long.
RUNG_INLINE u32 permuted_byte(u32 a, u32 b, u32 select, int n) {
  const u32 s = select >> (8 * n) & 0xff;
  const u32 byte = (s & 4 ? a : b) >> (8 * (s & 3)) & 0xff;
  const u32 sign = (s & 2 ? a : b) >> (s & 1 ? 31 : 15) & 1 ? 0xff : 0;
  return (s < 8 ? byte : s < 12 ? sign : s == 12 ? 0 : 0xff) << (8 * n);
}
RUNG_INLINE u32 permuted(u32 a, u32 b, u32 select) {
  return permuted_byte(a, b, select, 0) | permuted_byte(a, b, select, 1) | permuted_byte(a, b, select, 2) |
         permuted_byte(a, b, select, 3);
}

RUNG_INLINE u32 byte_of(u32 x, int n) { return x >> (8 * n) & 0xff; }
RUNG_INLINE u32 difference(u32 a, u32 b) { return a > b ? a - b : b - a; }
RUNG_INLINE u32 byte_differences(u32 a, u32 b) {
  u32 sum = 0;
  for (int n = 0; n < 4; ++n) sum += difference(byte_of(a, n), byte_of(b, n));
  return sum;
}
// Leaves out bytes that are 0 in the reference, which is b.
RUNG_INLINE u32 masked_differences(u32 a, u32 b) {
  u32 sum = 0;
  for (int n = 0; n < 4; ++n) sum += byte_of(b, n) == 0 ? 0 : difference(byte_of(a, n), byte_of(b, n));
  return sum;
}
// Returns four sums of 16 bits: of a's bytes from 0, 1, 2 and 3 on, against b, added to c's. Only clamp saturates them.
template <bool kMasked, bool kClamp>
RUNG_INLINE u64 four_differences(u64 a, u32 b, u64 c) {
  u64 result = 0;
  for (int n = 0; n < 4; ++n) {
    const u32 four = static_cast<u32>(a >> (8 * n));
    const u32 sum = (kMasked ? masked_differences(four, b) : byte_differences(four, b)) +
                    (static_cast<u32>(c >> (16 * n)) & 0xffff);
    result |= static_cast<u64>(kClamp && sum > 0xffff ? 0xffff : sum & 0xffff) << (16 * n);
  }
  return result;
}
template <bool kClamp>
RUNG_INLINE wide<4> four_masked_differences(wide<2> a, u32 b, wide<4> c) {
  wide<4> result;
  for (int n = 0; n < 4; ++n) {
    const u64 four = (static_cast<u64>(a.at[1]) << 32 | a.at[0]) >> (8 * n);
    const u64 sum = static_cast<u64>(c.at[n]) + masked_differences(static_cast<u32>(four), b);
    result.at[n] = kClamp && sum > 0xffffffff ? 0xffffffff : static_cast<u32>(sum);
  }
  return result;
}
RUNG_INLINE u32 averaged_bytes(u32 a, u32 b, u32 round) {
  u32 result = 0;
  for (int n = 0; n < 4; ++n) result |= ((byte_of(a, n) + byte_of(b, n) + (round >> (8 * n) & 1)) >> 1) << (8 * n);
  return result;
}

// Sums products of parts of 32 bits: kBits each, signed or not.
template <int kBits>
RUNG_INLINE i64 signed_dot(u32 a, u32 b) {
  i64 sum = 0;
  for (int n = 0; n < 32; n += kBits)
    sum += static_cast<i64>(static_cast<i32>(a << (32 - kBits - n)) >> (32 - kBits)) *
           (static_cast<i32>(b << (32 - kBits - n)) >> (32 - kBits));
  return sum;
}
template <int kBits>
RUNG_INLINE u64 unsigned_dot(u32 a, u32 b) {
  u64 sum = 0;
  for (int n = 0; n < 32; n += kBits)
    sum += static_cast<u64>(a << (32 - kBits - n) >> (32 - kBits)) * (b << (32 - kBits - n) >> (32 - kBits));
  return sum;
}
// Returns 64 bits of a sum, and the 65th bit of the exact one.
RUNG_INLINE carried<u64> signed_sum(i64 a, i64 b) {
  const u64 sum = static_cast<u64>(a) + static_cast<u64>(b);
  return {sum, ((a < 0) != (b < 0)) != (sum < static_cast<u64>(a))};
}
RUNG_INLINE u32 saturate_sum(u64 x) { return x > 0xffffffff ? 0xffffffff : static_cast<u32>(x); }

}  // namespace rung::amdgpu::RUNG_LANES
