// Converts numbers of 8, 6 and 4 bits: to f32 exactly, and from f32 to the nearest or by random bits.
// SPDX-License-Identifier: Apache-2.0
// Sources: the guides for CDNA 3 (FNUZ: one NaN, no infinity, no -0) and CDNA 4 (OCP's 8-bit and microscaling formats).
#pragma once
#include <algorithm>

#include "amdgpu/run/alu/convert_lanes.hpp"

namespace rung::amdgpu::RUNG_LANES {

struct SmallFormat {
  int mantissa = 0, bias = 0;
  u32 sign = 0, most = 0;     // the sign's bit; the largest finite magnitude
  u32 infinity = 0, nan = 0;  // 0: the format has none
  bool one_nan = false;       // -0's code is NaN
};
constexpr SmallFormat kFp8Fnuz{3, 8, 0x80, 0x7f, 0, 0x80, true}, kBf8Fnuz{2, 16, 0x80, 0x7f, 0, 0x80, true};
constexpr SmallFormat kFp8{3, 7, 0x80, 0x7e, 0, 0x7f, false}, kBf8{2, 15, 0x80, 0x7b, 0x7c, 0x7e, false};
constexpr SmallFormat kFp6{3, 1, 0x20, 0x1f, 0, 0, false}, kBf6{2, 3, 0x20, 0x1f, 0, 0, false};
constexpr SmallFormat kFp4{1, 1, 0x8, 0x7, 0, 0, false};

inline SmallFormat fp8_of(Isa isa) { return info_of(isa).ocp_f8 ? kFp8 : kFp8Fnuz; }
inline SmallFormat bf8_of(Isa isa) { return info_of(isa).ocp_f8 ? kBf8 : kBf8Fnuz; }

inline float from_small(u32 code, const SmallFormat& f) {
  const u32 magnitude = code & (f.sign - 1);
  const bool negative = code & f.sign;
  if (f.one_nan && magnitude == 0 && negative) return f32_of(0x7fc00000);
  if (f.infinity && magnitude == f.infinity) return negative ? -HUGE_VALF : HUGE_VALF;
  if (f.nan && !f.one_nan && magnitude > f.most) return f32_of(0x7fc00000);
  const int exponent = static_cast<int>(magnitude >> f.mantissa), one = 1 << f.mantissa;
  const int mantissa = static_cast<int>(magnitude) & (one - 1);
  const int shift = (exponent == 0 ? 1 : exponent) - f.bias - f.mantissa;
  const double value = std::ldexp(exponent == 0 ? mantissa : mantissa + one, shift);
  return static_cast<float>(negative ? -value : value);
}

// The rounding of a number that lies between two, and the treatment of one that is too large.
struct SmallRounding {
  bool by_random = false;
  u32 random = 0;          // the upper bits are added below the last bit that stays
  bool saturates = false;  // MODE's FP16_OVFL: the largest finite number, not infinity or NaN
};

inline u32 to_small(double x, const SmallFormat& f, const SmallRounding& rounding) {
  const u32 sign = std::signbit(x) && !f.one_nan ? f.sign : 0, own_sign = std::signbit(x) ? f.sign : 0;
  if (std::isnan(x)) return f.one_nan ? f.nan : f.nan ? sign | f.nan : f.most;
  const u32 overflow = own_sign | (f.one_nan || f.nan || f.infinity ? (rounding.saturates ? f.most
                                                                       : f.infinity       ? f.infinity
                                                                                          : f.nan)
                                                                    : f.most);
  const double a = std::fabs(x);
  if (std::isinf(a)) return overflow;
  if (a == 0) return sign;
  const int least = 1 - f.bias, power = std::max(std::ilogb(a), least);
  const double scaled = std::ldexp(a, f.mantissa - power), whole = std::floor(scaled), rest = scaled - whole;
  u64 n = static_cast<u64>(whole);
  if (rounding.by_random)
    n += rest + std::ldexp(static_cast<double>(rounding.random), -32) >= 1;
  else
    n += rest > 0.5 || (rest == 0.5 && n % 2 == 1);
  const u64 code = (static_cast<u64>(power - least) << f.mantissa) + n;  // a carry into the exponent is right
  if (code > f.most) return overflow;
  return code == 0 ? sign : own_sign | static_cast<u32>(code);
}

constexpr u32 kOverflowClamps = u32{1} << 23;  // in MODE
inline SmallRounding nearest(mode_bits m) { return {.saturates = (m.value & kOverflowClamps) != 0}; }
inline SmallRounding randomly(mode_bits m, u32 random) {
  return {.by_random = true, .random = random, .saturates = (m.value & kOverflowClamps) != 0};
}

// Returns the value of a scale, of which only the exponent counts.
inline double scale_of(float s) {
  const u32 exponent = exponent_of(s);
  return exponent == 0xff ? std::numeric_limits<double>::quiet_NaN()
                          : std::ldexp(1.0, static_cast<int>(exponent) - 127);
}

inline u32 byte_from(op_sel_bits o, u32 x) { return x >> (8 * (o.value & 3)) & 0xff; }
inline u32 word_from(op_sel_bits o, u32 x) { return x >> (16 * (o.value & 1)) & 0xffff; }
inline u32 byte_into(op_sel_bits o, before old, u32 byte) { return with_byte(old.value, o.value >> 2 & 3, byte); }
inline u32 word_into(op_sel_bits o, before old, u32 word) {
  return o.value & 8 ? (old.value & 0xffff) | word << 16 : (old.value & 0xffff0000) | (word & 0xffff);
}
inline float bf16_value(u32 x) { return f32_of(x << 16); }

inline pair<f32> halves_in(u32 x) { return {half_to_float(x & 0xffff), half_to_float(x >> 16)}; }
inline pair<f32> brains_in(u32 x) { return {bf16_value(x & 0xffff), bf16_value(x >> 16)}; }

// Puts two codes side by side, of 8 bits or of 4.
inline u32 small_pair(pair<f32> x, float scale, const SmallFormat& f, const SmallRounding& rounding) {
  const double by = scale_of(scale);
  return to_small(x.lo / by, f, rounding) | to_small(x.hi / by, f, rounding) << (f.sign == 0x80 ? 8 : 4);
}
inline float single(u32 code, float scale, const SmallFormat& f) {
  return static_cast<float>(from_small(code, f) * scale_of(scale));
}
inline pair<f32> scaled_pair(u32 codes, float scale, const SmallFormat& f) {
  const u32 ones = 2 * f.sign - 1, high = codes >> (f.sign == 0x80 ? 8 : 4);
  return {single(codes & ones, scale, f), single(high & ones, scale, f)};
}
inline u32 as_halves(pair<f32> x) { return float_to_half(x.lo) | float_to_half(x.hi) << 16; }
inline u32 as_brains(mode_bits m, pair<f32> x) { return to_bf16(m, x.lo) | to_bf16(m, x.hi) << 16; }

// Reads one of 32 codes of 6 bits in six registers.
inline u32 code_at(const wide<6>& codes, int n) {
  const int bit = 6 * n, at = bit / 32, shift = bit % 32;
  const u64 both_words = codes.at[at] | (at < 5 ? static_cast<u64>(codes.at[at + 1]) << 32 : 0);
  return static_cast<u32>(both_words >> shift) & 0x3f;
}
inline void put_code(wide<6>& codes, int n, u32 code) {
  const int bit = 6 * n, at = bit / 32, shift = bit % 32;
  const u64 placed = static_cast<u64>(code) << shift;
  codes.at[at] |= static_cast<u32>(placed);
  if (at < 5) codes.at[at + 1] |= static_cast<u32>(placed >> 32);
}
template <class Value>
inline wide<6> to_codes(Value value, float scale, const SmallFormat& f, SmallRounding rounding) {
  wide<6> codes{};
  for (int n = 0; n < 32; ++n) put_code(codes, n, to_small(value(n) / scale_of(scale), f, rounding));
  return codes;
}
inline float half_at(const wide<16>& x, int n) { return half_to_float(x.at[n / 2] >> (16 * (n % 2)) & 0xffff); }
inline float brain_at(const wide<16>& x, int n) { return bf16_value(x.at[n / 2] >> (16 * (n % 2)) & 0xffff); }
inline wide<32> singles_of(const wide<6>& codes, float scale, const SmallFormat& f) {
  wide<32> result;
  for (int n = 0; n < 32; ++n) result.at[n] = bits(single(code_at(codes, n), scale, f));
  return result;
}
template <bool kBrain>
inline wide<16> halves_of(mode_bits m, const wide<6>& codes, float scale, const SmallFormat& f) {
  wide<16> result{};
  for (int n = 0; n < 32; ++n) {
    const float value = single(code_at(codes, n), scale, f);
    result.at[n / 2] |= (kBrain ? to_bf16(m, value) : float_to_half(value)) << (16 * (n % 2));
  }
  return result;
}

}  // namespace rung::amdgpu::RUNG_LANES
