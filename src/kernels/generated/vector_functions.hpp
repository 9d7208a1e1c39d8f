// Every function of ir/functions.inc and the float functions of ir/formulas.inc over symbolic vectors of f32.
// SPDX-License-Identifier: Apache-2.0
//
// Coefficients are our own minimax fits, as in simd_math.hpp. Largest errors, which a test measures and asserts, stand
// in docs/vector_functions.md. NaN in, NaN out, but for pow's 1.
#pragma once
#include "kernels/generated/symbolic.hpp"
// The order matters: simd_math.hpp computes with the vectors that are there.
#include "kernels/cpu/simd_math.hpp"

namespace rung::cpu::symbolic {

inline constexpr float kInfinity = __builtin_inff(), kNan = __builtin_nanf("");

// Returns the polynomial with these coefficients, from x^0 on.
template <size_t count>
Vec polynomial(Vec x, const float (&coefficients)[count]) {
  Vec y = set1(coefficients[count - 1]);
  for (size_t i = count - 1; i-- > 0;) y = fma(y, x, set1(coefficients[i]));
  return y;
}

RUNG_SIMD Mask is_nan(Vec x) { return unordered(x, x); }
RUNG_SIMD Vec sign_bit(Vec x) { return floats_of(bits_of(x) & set1(0x80000000u)); }
RUNG_SIMD Vec flip_by(Vec x, Vec sign) { return floats_of(bits_of(x) ^ bits_of(sign)); }
RUNG_SIMD Vec with_sign_of(Vec size, Vec x) { return floats_of(bits_of(size) | bits_of(sign_bit(x))); }
RUNG_SIMD Vec truth(Mask m) { return select(m, set1(1.0f), zero()); }
RUNG_SIMD Mask is_true(Vec x) { return not_equal(x, zero()); }

// ---- logarithms

// x = significand 2^exponent, the significand in [sqrt(1/2), sqrt(2)); x is positive and finite.
struct Split {
  Vec significand, exponent;
};
RUNG_SIMD Split split_exponent(Vec x) {
  const Mask tiny = less(x, set1(0x1p-126f));
  const Ints shifted = bits_of(select(tiny, x * set1(0x1p24f), x)) - set1(0x3f3504f3u);
  const Vec exponent = to_float(shift_right_signed(shifted, 23)) + select(tiny, set1(-24.0f), zero());
  return {floats_of((shifted & set1(0x007fffff)) + set1(0x3f3504f3u)), exponent};
}

// Returns log(significand 2^exponent (1 + rest)), for a rest near the rounding of the significand.
RUNG_SIMD Vec log_of(const Split& x, Vec rest) {
  static constexpr float kSeries[] = {0.333333126f,  -0.250000096f, 0.200021187f,  -0.166679959f, 0.142195519f,
                                      -0.124055882f, 0.118881648f,  -0.116756575f, 0.0674664179f};
  const Vec r = x.significand - set1(1.0f), square = r * r;
  // ln 2 in two parts, the first so short that its product with an exponent is exact.
  Vec y = fma(polynomial(r, kSeries) * r, square, fma(x.exponent, set1(-2.12194440e-4f), rest));
  y = fnma(square, set1(0.5f), y);
  return fma(x.exponent, set1(0.693359375f), r + y);
}

// Returns y, but the logarithms of 0, an infinity, a negative number and NaN as they are.
RUNG_SIMD Vec log_limits(Vec x, Vec y) {
  y = select(equal(x, zero()), set1(-kInfinity), y);
  y = select(equal(x, set1(kInfinity)), x, y);
  return select(less(x, zero()) | is_nan(x), set1(kNan), y);
}

RUNG_SIMD Vec log(Vec x) { return log_limits(x, log_of(split_exponent(x), zero())); }

RUNG_SIMD Vec log1p(Vec x) {
  const Vec sum = set1(1.0f) + x;
  const Vec larger = max(x, set1(1.0f)), smaller = min(x, set1(1.0f));
  const Vec rest = smaller - (sum - larger);  // what the sum rounds off
  Vec y = log_limits(sum, log_of(split_exponent(sum), divide(rest, sum)));
  y = select(less(abs(x), set1(0x1p-24f)), x, y);
  return select(is_nan(x), x, y);
}

RUNG_SIMD Vec asinh(Vec x) {
  const Vec size = abs(x), bounded = min(size, set1(0x1p40f)), square = bounded * bounded;
  const Vec usual = log1p(bounded + square / (set1(1.0f) + sqrt(square + set1(1.0f))));
  const Vec large = log(size) + set1(0.693147182f);
  const Vec y = select(less(size, set1(0x1p40f)), usual, large);
  return select(is_nan(x), x, with_sign_of(y, x));
}

RUNG_SIMD Vec acosh(Vec x) {
  const Vec above = min(x, set1(0x1p40f)) - set1(1.0f);
  const Vec usual = log1p(above + sqrt(fma(above, above, above + above)));
  const Vec y = select(less(x, set1(0x1p40f)), usual, log(x) + set1(0.693147182f));
  return select(less(x, set1(1.0f)) | is_nan(x), set1(kNan), y);
}

RUNG_SIMD Vec atanh(Vec x) {
  const Vec size = abs(x);
  const Vec y = set1(0.5f) * log1p((size + size) / (set1(1.0f) - size));
  return select(is_nan(x), x, with_sign_of(y, x));
}

// ---- exponentials

// Returns e^x 2^shift for |x| <= 180; e^x alone may be no float.
RUNG_SIMD Vec exp_scaled(Vec x, float shift) {
  static constexpr float kSeries[] = {0.5f,           0.166666668f,   0.0416664813f,
                                      0.00833328197f, 0.00139333967f, 0.000199098154f};
  const Vec n = round(x * set1(1.44269504f));
  const Vec r = fnma(n, set1(-2.12194440e-4f), fnma(n, set1(0.693359375f), x));
  return scale2(fma(polynomial(r, kSeries), r * r, r) + set1(1.0f), n + set1(shift));
}

RUNG_SIMD Vec expm1(Vec x) {
  static constexpr float kSeries[] = {0.5f,           0.166666668f,   0.0416664813f,
                                      0.00833328197f, 0.00139333967f, 0.000199098154f};
  const Vec t = max(set1(-18.0f), min(set1(89.0f), x));
  const Vec n = round(t * set1(1.44269504f));
  const Vec r = fnma(n, set1(-2.12194440e-4f), fnma(n, set1(0.693359375f), t));
  const Vec p = fma(polynomial(r, kSeries), r * r, r);
  // 2^n - 1 + p 2^n in halves, as 2^128 is no float.
  const Vec half = scale2(set1(1.0f), n - set1(1.0f));
  const Vec y = fma(p, half, half - set1(0.5f));
  return select(equal(x, zero()) | is_nan(x), x, y + y);
}

RUNG_SIMD Vec sinh(Vec x) {
  const Vec size = abs(x), t = min(size, set1(100.0f));
  const Vec below = expm1(min(t, set1(20.0f)));
  const Vec small = set1(0.5f) * (below + below / (below + set1(1.0f)));
  const Vec y = select(less(t, set1(20.0f)), small, exp_scaled(t, -1.0f));
  return select(is_nan(x), x, with_sign_of(y, x));
}

RUNG_SIMD Vec cosh(Vec x) {
  const Vec t = min(abs(x), set1(100.0f)), half = exp_scaled(t, -1.0f);
  return select(is_nan(x), x, half + set1(0.25f) / half);
}

// ---- powers

// A number as a sum of two floats.
struct Pair {
  Vec high, low;
};
RUNG_SIMD Pair exact_product(Vec a, Vec b) {
  const Vec product = a * b;
  return {product, floats_of(bits_of(fnma(a, b, product)) ^ set1(0x80000000u))};
}
// The sum of two numbers, the first the larger one.
RUNG_SIMD Pair exact_sum(Vec large, Vec small) {
  const Vec sum = large + small;
  return {sum, small - (sum - large)};
}

// Returns log2(x) to 2^-35 of it; x is positive and finite.
RUNG_SIMD Pair log2_pair(Vec x) {
  static constexpr float kSeries[] = {0.200000764f, 0.142735298f, 0.117102101f};
  const Split of = split_exponent(x);
  // s = (m - 1) / (m + 1), for which log(m) = 2 (s + s^3 / 3 + s^5 / 5 + ...)
  const Vec above = of.significand - set1(1.0f);
  const Pair below = exact_sum(of.significand, set1(1.0f));
  const Vec low_below = select(less(of.significand, set1(1.0f)), of.significand - (below.high - set1(1.0f)), below.low);
  const Vec reciprocal = set1(1.0f) / below.high;
  const Vec s = above * reciprocal;
  const Vec s_low = fnma(s, low_below, fnma(s, below.high, above)) * reciprocal;
  Pair square = exact_product(s, s);
  square.low = fma(s + s, s_low, square.low);
  Pair cube = exact_product(square.high, s);
  cube.low = fma(square.low, s, fma(square.high, s_low, cube.low));
  Pair third = exact_product(cube.high, set1(0.333333343f));
  third.low = fma(cube.low, set1(0.333333343f), fma(cube.high, set1(-9.93410776e-9f), third.low));
  const Vec fifth = polynomial(square.high, kSeries) * (cube.high * square.high);
  const Pair sum = exact_sum(s, third.high);
  const Vec sum_low = sum.low + (s_low + (third.low + fifth));
  Pair scaled = exact_product(sum.high, set1(2.88539004f));
  scaled.low = fma(sum_low, set1(2.88539004f), fma(sum.high, set1(3.85192607e-8f), scaled.low));
  const Pair y = exact_sum(of.exponent, scaled.high);
  return exact_sum(y.high, y.low + scaled.low);
}

// Returns 2^(x.high + x.low)
RUNG_SIMD Vec exp2_of(const Pair& x) {
  static constexpr float kSeries[] = {0.693147206f,   0.240226513f,   0.0555032779f,
                                      0.00961800389f, 0.00134002699f, 0.000154763002f};
  const Vec bounded = max(set1(-160.0f), min(set1(130.0f), x.high));
  const Vec n = round(bounded), f = (bounded - n) + select(equal(bounded, x.high), x.low, zero());
  return scale2(fma(polynomial(f, kSeries), f, set1(1.0f)), n);
}

RUNG_SIMD Vec pow(Vec x, Vec y) {
  const Vec size = abs(x), one = set1(1.0f);
  Pair log2 = log2_pair(size);
  const Mask limit = equal(size, zero()) | equal(size, set1(kInfinity));
  log2.high = select(limit, select(equal(size, zero()), set1(-kInfinity), size), log2.high);
  log2.low = select(limit, zero(), log2.low);
  Pair product = exact_product(y, log2.high);
  product.low = fma(y, log2.low, product.low);
  Vec result = exp2_of(product);
  result = select(equal(size, one), one, result);
  const Mask whole = equal(trunc(y), y), half_whole = equal(trunc(y * set1(0.5f)), y * set1(0.5f));
  const Mask odd = whole & !half_whole;
  const Mask negative = greater(set1(0), bits_of(x));
  result = select(odd & negative, negate(result), result);
  const Mask infinite = equal(size, set1(kInfinity));
  result = select(less(x, zero()) & !whole & !infinite, set1(kNan), result);
  result = select(unordered(x, y), set1(kNan), result);
  return select(equal(x, one) | equal(y, zero()), one, result);
}

// ---- circular functions

// x = quarters pi / 2 + angle, with |angle| <= pi / 4; of the quarters, the last two bits are right.
struct Angle {
  Vec angle;
  Ints quarters;
};

// By the bits of 2 / pi that matter for the exponent of x, of 96 of which the product with the significand is exact.
RUNG_SIMD Angle reduce_huge(Vec x) {
  static constexpr generated::Table kTwoOverPi{
      {0, 0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab}};
  const Ints bits = bits_of(abs(x));
  const Ints at = shift_right(bits, 23) - set1(120), word = shift_right(at, 5), places = at & set1(31);
  const Ints significand = (bits & set1(0x007fffff)) | set1(0x00800000);
  const auto bits_from = [&](int i) {
    return shift_left_by(table_word(kTwoOverPi, word + set1(i)), places) |
           shift_right_by(table_word(kTwoOverPi, word + set1(i + 1)), set1(32) - places);
  };
  // The product modulo 2^96, without its last word: 2 bits of quarters, then the fraction of one.
  const Ints first = bits_from(0), second = bits_from(1), third = bits_from(2);
  const Ints carried = multiply_high(third, significand), low = second * significand;
  const Ints middle = low + carried;
  const Ints sign = set1(0x80000000u);  // turns the comparison of signed numbers into one of unsigned numbers
  const Ints carry = select(greater(low ^ sign, middle ^ sign), set1(1), set1(0));
  const Ints top = first * significand + multiply_high(second, significand) + carry;
  const Ints quarters = shift_right(top + set1(0x20000000), 30);
  const Ints fraction = top - shift_left(quarters, 30);
  const Vec high = to_float(fraction & set1(-256)) * set1(0x1p-30f);
  const Vec rest =
      fma(to_float(shift_right(middle, 8)), set1(0x1p-54f), to_float(fraction & set1(255)) * set1(0x1p-30f));
  const Vec sum = high + rest, left = rest - (sum - high);
  const Vec angle = fma(sum, set1(1.57079637f), fma(sum, set1(-4.37113883e-8f), left * set1(1.57079637f)));
  const Vec sign_of_x = sign_bit(x);
  const Ints turned = select(equal(bits_of(sign_of_x), set1(0)), quarters, set1(0) - quarters);
  return {flip_by(angle, sign_of_x), turned};
}

RUNG_SIMD Angle reduce(Vec x) {
  const Vec n = round(x * set1(0.636619747f));
  Vec r = fnma(n, set1(1.57079637f), x);
  r = fnma(n, set1(-4.37113883e-8f), r);
  r = fnma(n, set1(-1.71512451e-15f), r);
  const Mask huge = less(set1(100000.0f), abs(x));
  const Angle far = rarely(huge, [&] { return reduce_huge(x); });
  return {select(huge, far.angle, r), select(huge, far.quarters, to_int(n))};
}

struct SineCosine {
  Vec sine, cosine;
};
RUNG_SIMD SineCosine sine_and_cosine(Vec angle) {
  static constexpr float kSine[] = {-0.166666548f, 0.00833216639f, -0.000195156594f};
  static constexpr float kCosine[] = {0.0416666466f, -0.0013887352f, 2.44366123e-5f};
  const Vec square = angle * angle;
  const Vec cosine = fma(polynomial(square, kCosine), square * square, fnma(square, set1(0.5f), set1(1.0f)));
  return {fma(polynomial(square, kSine) * square, angle, angle), cosine};
}

// Returns the sine of the angle and its quarters, more of them for a cosine. An infinity has none.
RUNG_SIMD Vec turned(Vec x, const Angle& of, int quarters_more) {
  const SineCosine both = sine_and_cosine(of.angle);
  const Ints quarters = of.quarters + set1(quarters_more);
  const Vec y = select(equal(quarters & set1(1), set1(0)), both.sine, both.cosine);
  const Vec flipped = floats_of(bits_of(y) ^ shift_left(quarters & set1(2), 30));
  return select(less(abs(x), set1(kInfinity)), flipped, set1(kNan));
}
RUNG_SIMD Vec sin(Vec x) { return turned(x, reduce(x), 0); }
RUNG_SIMD Vec cos(Vec x) { return turned(x, reduce(x), 1); }
RUNG_SIMD Vec tan(Vec x) {
  const Angle of = reduce(x);
  const SineCosine both = sine_and_cosine(of.angle);
  const Mask even = equal(of.quarters & set1(1), set1(0));
  const Vec y = select(even, both.sine, negate(both.cosine)) / select(even, both.cosine, both.sine);
  return select(less(abs(x), set1(kInfinity)), y, set1(kNan));
}

// Returns asin(x) / x - 1 for |x| <= 1/2, of x^2.
RUNG_SIMD Vec asin_ratio(Vec square) {
  static constexpr float kSeries[] = {0.166666599f,  0.0750051092f, 0.0445157196f,
                                      0.0318176175f, 0.0144025815f, 0.0375652378f};
  return polynomial(square, kSeries) * square;
}
// asin(x) where |x| is small, up to 1/2; else asin(sqrt((1 - |x|) / 2)), of which both functions are made there.
struct Arcsine {
  Mask small;
  Vec angle;
};
RUNG_SIMD Arcsine arcsine(Vec x) {
  const Vec size = abs(x);
  const Mask small = less(size, set1(0.5f));
  const Vec square = select(small, size * size, fnma(size, set1(0.5f), set1(0.5f)));
  const Vec root = select(small, x, sqrt(square));
  return {small, fma(asin_ratio(square), root, root)};
}
RUNG_SIMD Vec asin(Vec x) {
  const auto [small, y] = arcsine(abs(x));
  const Vec far = fnma(y, set1(2.0f), set1(1.57079637f)) + set1(-4.37113883e-8f);
  return with_sign_of(select(small, y, far), x);
}
RUNG_SIMD Vec acos(Vec x) {
  const auto [small, y] = arcsine(x);
  const Vec turned = fnma(y, set1(2.0f), set1(3.14159274f)) + set1(-8.74227766e-8f);
  const Vec far = select(less(x, zero()), turned, y + y);
  return select(small, (set1(1.57079637f) - y) + set1(-4.37113883e-8f), far);
}

// Returns atan(x) for 0 <= x <= 1.
RUNG_SIMD Vec atan_of_part(Vec x) {
  static constexpr float kSeries[] = {-0.333333269f, 0.199996711f,   -0.14279833f,  0.110582235f,    -0.0881109069f,
                                      0.0674159556f, -0.0446899192f, 0.0225398474f, -0.00731794698f, 0.00111378678f};
  const Vec square = x * x;
  return fma(polynomial(square, kSeries) * square, x, x);
}
RUNG_SIMD Vec atan2(Vec y, Vec x) {
  const Vec rise = abs(y), run = abs(x);
  const Mask steep = less(run, rise);
  const Vec larger = select(steep, rise, run), smaller = select(steep, run, rise);
  Vec ratio = smaller / larger;
  ratio = select(equal(larger, zero()), zero(), ratio);
  ratio = select(equal(smaller, set1(kInfinity)), set1(1.0f), ratio);
  Vec angle = atan_of_part(ratio);
  angle = select(steep, (set1(1.57079637f) - angle) + set1(-4.37113883e-8f), angle);
  angle = select(greater(set1(0), bits_of(x)), (set1(3.14159274f) - angle) + set1(-8.74227766e-8f), angle);
  return select(unordered(x, y), set1(kNan), flip_by(angle, sign_bit(y)));
}
RUNG_SIMD Vec atan(Vec x) { return atan2(x, set1(1.0f)); }

// ---- remainders

// Returns a - b trunc(a / b) for a quotient below 2^23, of sizes; the quotient may be 1 too much.
RUNG_SIMD Vec rest_of(Vec a, Vec b) {
  const Vec rest = fnma(trunc(a / b), b, a);
  return select(less(rest, zero()), rest + b, rest);
}
RUNG_SIMD Vec fmod(Vec x, Vec y) {
  const Vec a = abs(x), b = abs(y);
  const auto exponent = [](Vec v) { return split_exponent(v).exponent; };
  // 22 bits of the quotient at a time, from the highest on.
  const auto by_steps = [&] {
    const Vec of_b = exponent(b);
    Vec rest = a;
    for (int bits = 276; bits > 0; bits -= 21) {
      const Vec places = max(zero(), exponent(max(rest, b)) - of_b - set1(21.0f));
      const Vec first = floor(places * set1(0.5f));  // 2^places alone may be no float
      rest = rest_of(rest, scale2(scale2(b, first), places - first));
    }
    return rest;
  };
  const Mask far = less(b * set1(0x1p22f), a) & less(a, set1(kInfinity));
  Vec rest = select(far, rarely(far, by_steps), rest_of(a, b));
  rest = select(equal(b, set1(kInfinity)), a, rest);
  const Mask none = unordered(x, y) | equal(b, zero()) | equal(a, set1(kInfinity));
  return select(none, set1(kNan), with_sign_of(abs(rest), x));
}
RUNG_SIMD Vec floor_mod(Vec x, Vec y) {
  const Vec rest = fmod(x, y);
  const Mask moves = (less(rest, zero()) & !less(y, zero())) | (less(zero(), rest) & less(y, zero()));
  return select(moves, rest + y, rest);
}

// ---- numbers of narrower floats

struct NarrowFloat {
  int mantissa_bits;
  float least_normal, most;
  bool signed_zero;
};
inline constexpr NarrowFloat kF8e4m3fn{3, 0x1p-6f, 448, true}, kF8e4m3fnuz{3, 0x1p-7f, 240, false},
    kF8e5m2{2, 0x1p-14f, 57344, true}, kF8e5m2fnuz{2, 0x1p-15f, 57344, false}, kF4e2m1{1, 1.0f, 6, true};

// Returns the size rounded to as many bits as the format has, without an upper limit. Adding the power of two beside
// which the last bit of a float is the format's last bit rounds to that bit.
RUNG_SIMD Vec rounded_size(Vec size, const NarrowFloat& format) {
  const Ints power = bits_of(max(set1(format.least_normal), min(size, set1(0x1p100f)))) & set1(0x7f800000);
  const Vec magic = floats_of(power) * set1(static_cast<float>(1 << (23 - format.mantissa_bits)));
  return (min(size, set1(0x1p100f)) + magic) - magic;
}
RUNG_SIMD Vec signed_as(Vec size, Vec x, const NarrowFloat& format) {
  const Vec y = with_sign_of(size, x);
  return format.signed_zero ? y : select(equal(size, zero()), zero(), y);
}
RUNG_SIMD Vec narrow(Vec x, const NarrowFloat& format) {
  const Vec size = min(rounded_size(abs(x), format), set1(format.most));
  return select(is_nan(x), set1(kNan), signed_as(size, x, format));
}
// `beyond`: what numbers become that round to more than the format has.
RUNG_SIMD Vec narrow_or(Vec x, const NarrowFloat& format, float beyond) {
  const Vec size = rounded_size(abs(x), format);
  const Vec bounded = select(less(set1(format.most), size), set1(beyond), size);
  return select(is_nan(x), x, signed_as(bounded, x, format));
}
RUNG_SIMD Vec f8e4m3fn(Vec x) { return narrow(x, kF8e4m3fn); }
RUNG_SIMD Vec f8e4m3fnuz(Vec x) { return narrow(x, kF8e4m3fnuz); }
RUNG_SIMD Vec f8e5m2(Vec x) { return narrow(x, kF8e5m2); }
RUNG_SIMD Vec f8e5m2fnuz(Vec x) { return narrow(x, kF8e5m2fnuz); }
RUNG_SIMD Vec f8e4m3fn_or_nan(Vec x) { return narrow_or(x, kF8e4m3fn, kNan); }
RUNG_SIMD Vec f8e4m3fnuz_or_nan(Vec x) { return narrow_or(x, kF8e4m3fnuz, kNan); }
RUNG_SIMD Vec f8e5m2_or_nan(Vec x) { return narrow_or(x, kF8e5m2, kInfinity); }
RUNG_SIMD Vec f8e5m2fnuz_or_nan(Vec x) { return narrow_or(x, kF8e5m2fnuz, kNan); }
RUNG_SIMD Vec f4e2m1(Vec x) { return select(is_nan(x), set1(-0.0f), narrow(x, kF4e2m1)); }

// A power of two below a size, and the size; either is four times as large where the size is a denormal.
struct Power {
  Vec below, size;
  Mask tiny;
};
RUNG_SIMD Power power_below(Vec x) {
  const Vec size = max(set1(0x1p-127f), min(set1(0x1p127f), abs(x)));
  const Mask tiny = less(size, set1(0x1p-126f));
  const Vec normal = select(tiny, size * set1(4.0f), size);
  return {floats_of(bits_of(normal) & set1(0x7f800000)), normal, tiny};
}
// Returns the power, or the next one where `up` is true, of 2^-127 to 2^127.
RUNG_SIMD Vec power_of_two(Vec x, const Power& power, Mask up) {
  const Vec y = select(up, power.below + power.below, power.below);
  return select(is_nan(x), x, min(select(power.tiny, y * set1(0.25f), y), set1(0x1p127f)));
}
RUNG_SIMD Vec f8e8m0_up(Vec x) {
  const Power power = power_below(x);
  return power_of_two(x, power, less(power.below, power.size));
}
RUNG_SIMD Vec f8e8m0_down(Vec x) {
  const Power power = power_below(x);
  return power_of_two(x, power, less(power.size, power.below));
}
RUNG_SIMD Vec f8e8m0_nearest(Vec x) {
  const Power power = power_below(x);
  return power_of_two(x, power, less_equal(power.below * set1(1.5f), power.size));
}

// ---- the functions by the names of their kinds

namespace floats {
using namespace symbolic;  // those that have the name already

RUNG_SIMD Vec neg(Vec x) { return negate(x); }
RUNG_SIMD Vec rsqrt(Vec x) { return set1(1.0f) / sqrt(x); }
RUNG_SIMD Vec reciprocal(Vec x) { return set1(1.0f) / x; }
RUNG_SIMD Vec square(Vec x) { return x * x; }
RUNG_SIMD Vec logical_not(Vec x) { return truth(!is_true(x)); }
RUNG_SIMD Vec add(Vec x, Vec y) { return x + y; }
RUNG_SIMD Vec sub(Vec x, Vec y) { return x - y; }
RUNG_SIMD Vec mul(Vec x, Vec y) { return x * y; }
RUNG_SIMD Vec div(Vec x, Vec y) { return x / y; }
RUNG_SIMD Vec max(Vec x, Vec y) { return select(is_nan(x), x, symbolic::max(x, y)); }
RUNG_SIMD Vec min(Vec x, Vec y) { return select(is_nan(x), x, symbolic::min(x, y)); }
RUNG_SIMD Vec eq(Vec x, Vec y) { return truth(equal(x, y)); }
RUNG_SIMD Vec ne(Vec x, Vec y) { return truth(not_equal(x, y)); }
RUNG_SIMD Vec lt(Vec x, Vec y) { return truth(less(x, y)); }
RUNG_SIMD Vec le(Vec x, Vec y) { return truth(less_equal(x, y)); }
RUNG_SIMD Vec gt(Vec x, Vec y) { return truth(less(y, x)); }
RUNG_SIMD Vec ge(Vec x, Vec y) { return truth(less_equal(y, x)); }
RUNG_SIMD Vec logical_and(Vec x, Vec y) { return truth(is_true(x) & is_true(y)); }
RUNG_SIMD Vec logical_or(Vec x, Vec y) { return truth(is_true(x) | is_true(y)); }
}  // namespace floats

}  // namespace rung::cpu::symbolic
