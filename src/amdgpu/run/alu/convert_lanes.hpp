// Parts of conversions beyond an expression: saturation, NaN, rounding to bf16 and by random bits.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "amdgpu/run/alu/float_lanes.hpp"

namespace rung::amdgpu::RUNG_LANES {

RUNG_INLINE float quiet_if_nan(float x) { return is_nan(x) ? quiet(x) : x; }

// Rounds toward zero; NaN becomes 0, and a number that is too large the largest.
template <class T>
RUNG_INLINE i32 to_i32(T x) {
  return is_nan(x) ? 0 : x >= T(0x1p31) ? 0x7fffffff : x <= T(-0x1p31) ? -0x7fffffff - 1 : static_cast<i32>(x);
}
template <class T>
RUNG_INLINE u32 to_u32(T x) {
  return !(x > T{0}) ? 0 : x >= T(0x1p32) ? ~u32{0} : static_cast<u32>(x);
}
// Rounds to nearest even, whatever MODE says.
RUNG_INLINE i32 to_nearest(float x) { return to_i32(round_even(x)); }
RUNG_INLINE i16 to_norm_i16(float x) {
  const float within = x > 1 ? 1.0f : x < -1 ? -1.0f : x;
  return static_cast<i16>(to_nearest(within * 32767.0f));
}
RUNG_INLINE u16 to_norm_u16(float x) {
  const float within = x > 1 ? 1.0f : x > 0 ? x : 0.0f;
  return static_cast<u16>(to_nearest(within * 65535.0f));
}
RUNG_INLINE u32 with_byte(u32 x, u32 at, u32 byte) { return (x & ~(u32{0xff} << (8 * at))) | byte << (8 * at); }

// Rounds by the mode of f32; a NaN becomes quiet.
RUNG_INLINE u32 to_bf16(mode_bits m, float x) {
  const u32 b = bits(x), rounding = m.value & Mode::kRound32;
  const u32 nearest = b + 0x7fff + (b >> 16 & 1);
  const bool away = (rounding == 1 && !(b >> 31)) || (rounding == 2 && b >> 31);
  const u32 directed = b + (away ? 0xffff : 0);
  const u32 finite = (rounding == 0 ? nearest : directed) >> 16;
  return is_nan(x) ? b >> 16 | 0x40 : is_infinite(x) ? b >> 16 : finite;
}

// The bits that are cut off are added to as many of the random bits' upper ones; the sum carries or not.
RUNG_INLINE u32 to_bf16_randomly(float x, u32 random) {
  const u32 b = bits(x);
  return is_nan(x) ? b >> 16 | 0x40 : is_infinite(x) ? b >> 16 : (b + (random >> 16)) >> 16;
}
RUNG_INLINE u32 to_half_randomly(float x, u32 random) {
  const u32 a = bits(x) & 0x7fffffff, exponent = a >> 23;
  if (exponent == 0xff || a >= 0x47800000) return float_to_half(x);
  u32 cut = 13, mantissa = a;
  if (exponent < 113) {  // denormal in f16
    cut = 126 - exponent < 31 ? 126 - exponent : 31;
    mantissa = exponent == 0 ? a & 0x7fffff : (a & 0x7fffff) | 0x800000;
  } else {
    mantissa = a - 0x38000000;
  }
  const u64 sum = static_cast<u64>(mantissa) + (random >> (32 - cut));
  const u32 half = static_cast<u32>(sum >> cut);
  return (bits(x) >> 16 & 0x8000) | half;
}

}  // namespace rung::amdgpu::RUNG_LANES
