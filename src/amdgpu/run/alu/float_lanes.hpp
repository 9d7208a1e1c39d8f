// Parts of float instructions beyond an expression: NaN rules of min and max, powers and logarithms, division's steps.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "amdgpu/run/alu/integer_lanes.hpp"

namespace rung::amdgpu::RUNG_LANES {

// ---- NaN, infinity, zero

RUNG_INLINE bool is_nan(float x) { return (bits(x) & 0x7fffffff) > 0x7f800000; }
RUNG_INLINE bool is_nan(double x) { return (bits(x) & ~(u64{1} << 63)) > u64{0x7ff} << 52; }
RUNG_INLINE bool is_infinite(float x) { return (bits(x) & 0x7fffffff) == 0x7f800000; }
RUNG_INLINE bool is_infinite(double x) { return (bits(x) & ~(u64{1} << 63)) == u64{0x7ff} << 52; }
RUNG_INLINE bool is_signalling(float x) { return is_nan(x) && !(bits(x) & 0x400000); }
RUNG_INLINE bool is_signalling(double x) { return is_nan(x) && !(bits(x) & u64{1} << 51); }
RUNG_INLINE float quiet(float x) { return f32_of(bits(x) | 0x400000); }
RUNG_INLINE double quiet(double x) { return f64_of(bits(x) | u64{1} << 51); }
RUNG_INLINE u32 exponent_of(float x) { return bits(x) >> 23 & 0xff; }
RUNG_INLINE u32 exponent_of(double x) { return static_cast<u32>(bits(x) >> 52) & 0x7ff; }
RUNG_INLINE bool is_finite(float x) { return exponent_of(x) != 0xff; }
RUNG_INLINE bool is_finite(double x) { return exponent_of(x) != 0x7ff; }
RUNG_INLINE float sign_bits_or(float a, float b) { return f32_of(bits(a) | bits(b)); }
RUNG_INLINE double sign_bits_or(double a, double b) { return f64_of(bits(a) | bits(b)); }
RUNG_INLINE float sign_bits_and(float a, float b) { return f32_of(bits(a) & bits(b)); }
RUNG_INLINE double sign_bits_and(double a, double b) { return f64_of(bits(a) & bits(b)); }
// The result of an invalid operation.
constexpr u32 kInvalid = 0xffc00000;
// Denormals become zero of their sign in instructions that ignore MODE; flushed_half() takes an f16 held as f32.
RUNG_INLINE float flushed(float x) { return exponent_of(x) == 0 ? f32_of(bits(x) & 0x80000000) : x; }
RUNG_INLINE float flushed_half(float x) { return exponent_of(x) < 127 - 14 ? f32_of(bits(x) & 0x80000000) : x; }

// Returns the other number if one is NaN; -0 is less than +0. In IEEE mode a signalling NaN is returned, made quiet.
template <bool kMax, class T>
RUNG_INLINE T extreme(mode_bits m, T a, T b) {
  T r = (kMax ? a > b : a < b) ? a : b;
  r = a == b ? (kMax ? sign_bits_and(a, b) : sign_bits_or(a, b)) : r;
  r = is_nan(b) ? a : r;
  r = is_nan(a) ? b : r;
  r = m.ieee() && is_signalling(b) ? quiet(b) : r;
  return m.ieee() && is_signalling(a) ? quiet(a) : r;
}
template <class T>
RUNG_INLINE T smaller(mode_bits m, T a, T b) {
  return extreme<false>(m, a, b);
}
template <class T>
RUNG_INLINE T larger(mode_bits m, T a, T b) {
  return extreme<true>(m, a, b);
}
// An f16 held as f32 has its quiet bit where f32 has it, so the same rules hold.
RUNG_INLINE float median(mode_bits m, float a, float b, float c) {
  const float top = larger(m, larger(m, a, b), c);
  const float rest = top == a ? larger(m, b, c) : top == b ? larger(m, a, c) : larger(m, a, b);
  return is_nan(a) || is_nan(b) || is_nan(c) ? smaller(m, smaller(m, a, b), c) : rest;
}
// Computes IEEE 754-2019's maximum and minimum: NaN if any operand is NaN.
template <bool kMax>
RUNG_INLINE float extreme_or_nan(float a, float b) {
  const float r = a == b ? (kMax ? sign_bits_and(a, b) : sign_bits_or(a, b)) : (kMax ? a > b : a < b) ? a : b;
  return is_nan(a) ? quiet(a) : is_nan(b) ? quiet(b) : r;
}
template <bool kMax>
RUNG_INLINE float extreme_or_nan(float a, float b, float c) {
  return extreme_or_nan<kMax>(extreme_or_nan<kMax>(a, b), c);
}

// ---- f16 sums that f32 cannot hold

// Rounds the exact value of s + error to f32, to odd, so that rounding that to f16 gives the same as rounding once.
RUNG_INLINE float to_odd(double s, double error) {
  const u64 toward_zero = bits(s) - ((error < 0) == (s < 0) ? 0 : 1);
  const double odd = error == 0 || !is_finite(s) || s == 0 ? s : f64_of(toward_zero | 1);
  const u64 cut = bits(odd) & ((u64{1} << 29) - 1);  // bits without a place in f32; f16 fmas are never denormal in f32
  return static_cast<float>(is_finite(odd) ? f64_of((bits(odd) - cut) | (cut ? u64{1} << 29 : 0)) : odd);
}
RUNG_INLINE f16 fma_half(float a, float b, float c) {
  const double product = static_cast<double>(a) * b, s = product + c;
  const double part = s - product, error = (product - (s - part)) + (c - part);
  return f16(to_odd(s, is_finite(s) ? error : 0));
}

// ---- powers of two, logarithms, sines: in f64, rounded once

RUNG_INLINE double exp2_wide(double x) {
  constexpr double kRound = 0x1.8p52;
  x = x > 1000 ? 1000 : x < -1000 ? -1000 : x;  // f16 and f32 over- and underflow long before; NaN stays
  const double shifted = x + kRound, r = x - (shifted - kRound);
  constexpr double c[] = {1.0,
                          0x1.62e42fefa39efp-1,
                          0x1.ebfbdff82c58fp-3,
                          0x1.c6b08d704a0cp-5,
                          0x1.3b2ab6fba4e77p-7,
                          0x1.5d87fe78a6731p-10,
                          0x1.430912f86c787p-13,
                          0x1.ffcbfc588b0c7p-17,
                          0x1.62c0223a5c824p-20,
                          0x1.b5253d395e7c4p-24,
                          0x1.e4cf5158b8ecap-28,
                          0x1.e8cac7351bb25p-32};
  double p = c[11];
  for (int k = 10; k >= 0; --k) p = p * r + c[k];
  const u64 n = bits(shifted) << 52;  // modulo 2^12, at the exponent
  return f64_of(bits(p) + n);
}
RUNG_INLINE float exp2_flushed(float x) { return flushed(static_cast<float>(exp2_wide(flushed(x)))); }

// Returns the logarithm of a positive normal f32.
RUNG_INLINE double log2_wide(float x) {
  const u32 from_root = bits(x) - 0x3f3504f3;  // mantissas from sqrt(1/2) to sqrt(2)
  const double exponent = static_cast<i32>(from_root) >> 23;
  const double m = f32_of((from_root & 0x7fffff) + 0x3f3504f3);
  const double s = (m - 1) / (m + 1), s2 = s * s;
  double p = 1.0 / 21;
  p = p * s2 + 1.0 / 19, p = p * s2 + 1.0 / 17, p = p * s2 + 1.0 / 15, p = p * s2 + 1.0 / 13, p = p * s2 + 1.0 / 11;
  p = p * s2 + 1.0 / 9, p = p * s2 + 1.0 / 7, p = p * s2 + 1.0 / 5, p = p * s2 + 1.0 / 3, p = p * s2 + 1.0;
  return exponent + 0x1.71547652b82fep+1 * s * p;
}
RUNG_INLINE float log2_flushed(float x) {
  const float a = flushed(x);
  const float r = static_cast<float>(log2_wide(a));
  const float special = is_nan(a) ? quiet(a) : a == 0 ? -HUGE_VALF : a < 0 ? f32_of(kInvalid) : a;
  return a > 0 && is_finite(a) ? r : special;
}
RUNG_INLINE float rcp_flushed(float x) { return flushed(1.0f / flushed(x)); }
RUNG_INLINE float sqrt_flushed(float x) { return __builtin_sqrtf(flushed(x)); }
RUNG_INLINE float rsq_flushed(float x) { return static_cast<float>(1.0 / __builtin_sqrt(double{flushed(x)})); }

// Returns the sine of `turns` * 2 pi; exact at quarters. Beyond 256 turns the hardware gives the value at 0.
RUNG_INLINE float sine_of_turns(double turns) {
  double r = turns - __builtin_rint(turns);
  r = r > 0.25 ? 0.5 - r : r < -0.25 ? -0.5 - r : r;
  return static_cast<float>(__builtin_sin(6.283185307179586 * r));
}
RUNG_INLINE float sine(float x) {
  return is_nan(x)                  ? quiet(x)
         : is_infinite(x)           ? f32_of(kInvalid)
         : __builtin_fabsf(x) > 256 ? 0.0f
         : x == 0                   ? x
                                    : sine_of_turns(x);
}
RUNG_INLINE float cosine(float x) {
  const double r = x - __builtin_rint(double{x});
  return is_nan(x)                  ? quiet(x)
         : is_infinite(x)           ? f32_of(kInvalid)
         : __builtin_fabsf(x) > 256 ? 1.0f
                                    : sine_of_turns(0.25 - __builtin_fabs(r));
}

// ---- exponents

// Returns x * 2^e, rounded once.
RUNG_INLINE float scaled(float x, i32 e) {
  const i32 power = e < -400 ? -400 : e > 400 ? 400 : e;
  return static_cast<float>(x * f64_of(static_cast<u64>(1023 + power) << 52));
}
RUNG_INLINE double scaled(double x, i32 e) { return __builtin_ldexp(x, e < -4000 ? -4000 : e > 4000 ? 4000 : e); }
RUNG_INLINE i32 frexp_exponent(double x) {
  int e = 0;
  if (is_finite(x) && x != 0) __builtin_frexp(x, &e);
  return e;
}
RUNG_INLINE double frexp_mantissa(double x) {
  int e = 0;
  return is_nan(x) ? quiet(x) : is_finite(x) ? __builtin_frexp(x, &e) : x;
}
template <class T>
RUNG_INLINE T fraction(T x, T most) {  // most: the largest below 1
  const T r = x - std::floor(x);
  return r > most ? most : r;
}

// v_trig_preop_f64 gives 53 bits of 2 / pi, those of a segment, rounded down. For a large x the segments begin later:
// products of x with the first bits are whole turns.
RUNG_INLINE double part_of_two_over_pi(double x, u32 segment) {
  constexpr u64 kBits[] = {// 1201 bits, the first below the point in the topmost bit
                           0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
                           0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
                           0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
                           0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
                           0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b0000, 0};
  constexpr u32 kWords = sizeof kBits / sizeof *kBits, kNoScale = 1077, kFar = 1968;
  const u32 exponent = exponent_of(x), first = (segment & 31) * 53 + (exponent > kNoScale ? exponent - kNoScale : 0);
  const u32 word = first / 64, at = first % 64;
  if (word + 1 >= kWords) return 0;
  const u64 top = kBits[word] << at | (at == 0 ? 0 : kBits[word + 1] >> (64 - at));
  i32 scale = -53 - static_cast<i32>(first) + (exponent >= kFar ? 128 : 0);
  u64 whole = top >> 11;
  constexpr i32 kLeast = -1074;
  if (scale < kLeast) whole = kLeast - scale < 64 ? whole >> (kLeast - scale) : 0, scale = kLeast;
  return __builtin_ldexp(static_cast<double>(whole), scale);
}

// ---- the steps of an IEEE division: v_div_scale, v_div_fmas, v_div_fixup

template <class T>
struct Division;
template <>
struct Division<float> {
  static constexpr u32 kFar = 96, kTiny = 23, kTop = 255, kUnderflow = 150;
  static constexpr int kScale = 64;
};
template <>
struct Division<double> {
  static constexpr u32 kFar = 768, kTiny = 53, kTop = 2047, kUnderflow = 1075;
  static constexpr int kScale = 128;
};
template <class T>
RUNG_INLINE bool is_denormal(T x) {
  return exponent_of(x) == 0 && x != 0;
}
// a is the denominator b or the numerator c. It is scaled if the steps would meet denormals or overflow; the mask tells
// v_div_fmas to scale back. If the reciprocal is denormal, the guide says to scale up, but the quotient comes out only
// when scaling down, so this scales down.
template <class T>
RUNG_INLINE carried<T> scaled_for_division(T a, T b, T c) {
  using D = Division<T>;
  const bool is_denominator = bits(a) == bits(b);
  if (b == 0 || c == 0) return {std::numeric_limits<T>::quiet_NaN(), false};
  if (static_cast<i32>(exponent_of(c)) - static_cast<i32>(exponent_of(b)) >= static_cast<i32>(D::kFar))
    return {is_denominator ? scaled(a, D::kScale) : a, true};
  if (is_denormal(b)) return {scaled(a, D::kScale), false};
  const bool small_reciprocal = is_denormal(T{1} / b), small_quotient = is_denormal(c / b) || c / b == 0;
  if (small_reciprocal && small_quotient) return {is_denominator ? scaled(a, -D::kScale) : a, true};
  if (small_reciprocal) return {scaled(a, -D::kScale), false};
  if (small_quotient) return {bits(a) == bits(c) ? scaled(a, D::kScale) : a, true};
  if (exponent_of(c) <= D::kTiny) return {scaled(a, D::kScale), false};
  return {a, false};
}
template <class T>
RUNG_INLINE T fma_scaled_back(T a, T b, T c, bool scale) {
  const T r = std::fma(a, b, c);
  const int back = exponent_of(c) > Division<T>::kTop / 2 ? Division<T>::kScale : -Division<T>::kScale;
  return scale ? scaled(r, back) : r;
}
template <class T>
RUNG_INLINE T divided_special(T b, T c, T normal) {
  const bool negative = std::signbit(b) != std::signbit(c);
  const T infinity = std::numeric_limits<T>::infinity();
  T r = normal;
  r = is_infinite(b) || c == 0 ? (negative ? -T{0} : T{0}) : r;
  r = b == 0 || is_infinite(c) ? (negative ? -infinity : infinity) : r;
  r = (b == 0 && c == 0) || (is_infinite(b) && is_infinite(c)) ? -std::numeric_limits<T>::quiet_NaN() : r;
  r = is_nan(b) ? quiet(b) : r;
  return is_nan(c) ? quiet(c) : r;
}
// a is the quotient so far, b the denominator, c the numerator. The steps to a quotient that overflows end in NaN
// although neither operand is one; the result is infinite then.
template <class T>
RUNG_INLINE T fixed_quotient(T a, T b, T c) {
  const bool negative = std::signbit(b) != std::signbit(c);
  const i32 apart = static_cast<i32>(exponent_of(c)) - static_cast<i32>(exponent_of(b));
  T r = std::fabs(a);
  r = is_nan(a) ? std::numeric_limits<T>::infinity() : r;
  r = apart < -static_cast<i32>(Division<T>::kUnderflow) ? T{0} : r;
  return divided_special(b, c, negative ? -r : r);
}
RUNG_INLINE float fixed_quotient_half(float a, float b, float c) {
  const bool negative = std::signbit(b) != std::signbit(c);
  const float r = __builtin_fabsf(a);
  return divided_special(b, c, negative ? -r : r);
}

// ---- faces of a cube, by the axis of the largest coordinate: z, then y, then x

RUNG_INLINE float cube_face(float x, float y, float z) {
  const float ax = __builtin_fabsf(x), ay = __builtin_fabsf(y), az = __builtin_fabsf(z);
  if (az >= ax && az >= ay) return z < 0 ? 5.0f : 4.0f;
  if (ay >= ax) return y < 0 ? 3.0f : 2.0f;
  return x < 0 ? 1.0f : 0.0f;
}
RUNG_INLINE float cube_axis(float x, float y, float z) {
  const float ax = __builtin_fabsf(x), ay = __builtin_fabsf(y), az = __builtin_fabsf(z);
  return 2 * (az >= ax && az >= ay ? z : ay >= ax ? y : x);
}
RUNG_INLINE float cube_s(float x, float y, float z) {
  const float ax = __builtin_fabsf(x), ay = __builtin_fabsf(y), az = __builtin_fabsf(z);
  if (az >= ax && az >= ay) return z < 0 ? -x : x;
  if (ay >= ax) return x;
  return x < 0 ? z : -z;
}
RUNG_INLINE float cube_t(float x, float y, float z) {
  const float ax = __builtin_fabsf(x), ay = __builtin_fabsf(y), az = __builtin_fabsf(z);
  if (!(az >= ax && az >= ay) && ay >= ax) return y < 0 ? -z : z;
  return -y;
}

RUNG_INLINE float legacy_product(float a, float b) { return a == 0 || b == 0 ? 0.0f : a * b; }
// The product is rounded to f16 before the sum; denormals are zeros.
RUNG_INLINE float mad_half(float a, float b, float c) {
  const float product = flushed_half(half_to_float(float_to_half(flushed_half(a) * flushed_half(b))));
  return flushed_half(product + flushed_half(c));
}
// Products and the sum are exact in f64, rounded once to f32, as hardware's order of these sums is not documented.
// Denormals of sources and results are zeros, whatever MODE says.
RUNG_INLINE float dot_of_halves(pair<f16> a, pair<f16> b, float c) {
  const double low = double{flushed_half(a.lo)} * flushed_half(b.lo);
  const double high = double{flushed_half(a.hi)} * flushed_half(b.hi);
  return flushed(static_cast<float>(low + high + flushed(c)));
}
RUNG_INLINE double value_of(bf16 x) { return flushed(f32_of(u32{x.bits} << 16)); }
RUNG_INLINE float dot_of_bf16(pair<bf16> a, pair<bf16> b, float c) {
  return flushed(static_cast<float>(value_of(a.lo) * value_of(b.lo) + value_of(a.hi) * value_of(b.hi) + flushed(c)));
}

// ---- v_cmp_class: bits 0..9 are signalling, quiet, -infinity, -normal, -denormal, -0, +0, +denormal, +normal,
// +infinity

template <class T>
RUNG_INLINE u32 class_of(T x) {
  const bool negative = std::signbit(x);
  if (is_nan(x)) return is_signalling(x) ? 1 : 2;
  if (is_infinite(x)) return negative ? 4 : 0x200;
  if (x == 0) return negative ? 0x20 : 0x40;
  return is_denormal(x) ? (negative ? 0x10 : 0x80) : (negative ? 8 : 0x100);
}
RUNG_INLINE u32 class_of_half(u32 x) {
  const u32 a = x & 0x7fff;
  const bool negative = x & 0x8000;
  if (a > 0x7c00) return a & 0x200 ? 2 : 1;
  if (a == 0x7c00) return negative ? 4 : 0x200;
  if (a == 0) return negative ? 0x20 : 0x40;
  return a < 0x400 ? (negative ? 0x10 : 0x80) : (negative ? 8 : 0x100);
}

}  // namespace rung::amdgpu::RUNG_LANES
