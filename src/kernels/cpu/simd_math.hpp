// Vectorised exp, log, tanh, erf and the activations made of them, over simd.hpp's f32 vectors.
// SPDX-License-Identifier: Apache-2.0
//
// Coefficients are our own minimax fits (relative error; Lawson-weighted least squares in f64). NaN in, NaN out.
// Largest errors found over 4.4 million inputs of all magnitudes, AVX2: exp 0.98 ulp, log 0.75 ulp; relative:
// tanh 2.5e-7, erf 3.4e-7, sigmoid 1.5e-7; of max(|result|, |x| / 4): silu 1.7e-7, gelu 5.3e-7, gelu_tanh 5.0e-7 (their
// far negative tail ends at -2e-7 instead of 0). The coarse forms are for results that are stored in 16 bits: 4e-5, at
// about half the instructions.
#pragma once
#include "kernels/cpu/simd.hpp"

namespace rung::cpu::RUNG_ISA {

enum class Accuracy { full, coarse };

// Returns a / b for finite b whose reciprocal is normal.
template <Accuracy accuracy = Accuracy::full>
RUNG_SIMD Vec divide(Vec a, Vec b) {
#if defined(__AVX512F__)
  // The 512-bit divider takes 16 to 24 cycles; an estimate good to 2^-14 and one Newton step take 4.
  Vec r = _mm512_rcp14_ps(b);
  if constexpr (accuracy == Accuracy::full) {
    Vec q = a * r;
    return fma(fnma(b, q, a), r, q);
  }
  return a * r;
#else
  return a / b;
#endif
}

RUNG_SIMD Vec clamp(Vec x, float limit) { return max(set1(-limit), min(set1(limit), x)); }

// Returns e^x, with gradual underflow and overflow to infinity.
RUNG_SIMD Vec exp(Vec x) {
  Vec t = max(set1(-104.5f), min(set1(89.0f), x));
  Vec n = round(t * set1(1.44269504f));
  Vec r = fnma(n, set1(-2.12194440e-4f), fnma(n, set1(0.693359375f), t));  // t - n ln 2, ln 2 in two parts
  Vec p = fma(set1(0.00139506025f), r, set1(0.0083689537f));
  p = fma(p, r, set1(0.0416662041f));
  p = fma(p, r, set1(0.166665183f));
  p = fma(p, r, set1(0.50000001f));
  p = fma(p, r * r, r) + set1(1.0f);
  return scale2(p, n);
}

// Returns the natural logarithm: that of a power of two, and log(m) = 2 atanh(s) with s = (m - 1) / (m + 1), as a
// series.
RUNG_SIMD Vec log(Vec x) {
  const Mask is_tiny = less(x, set1(0x1p-126f));
  Vec exponent;
  const Vec f = mantissa(select(is_tiny, x * set1(0x1p25f), x), exponent) - set1(1.0f);
  exponent = exponent - select(is_tiny, set1(25.0f), zero());
  const Vec s = f / (set1(2.0f) + f), z = s * s, half = set1(0.5f) * f * f;
  Vec rest = fma(z, set1(0.222222222f), set1(0.285714286f));
  rest = fma(z, rest, set1(0.4f));
  rest = fma(z, rest, set1(0.666666667f)) * z;
  const Vec small = fma(s, half + rest, exponent * set1(-2.12194440e-4f));  // ln 2 in two parts
  Vec y = fma(exponent, set1(0.693359375f), f - (half - small));
  y = select(less(x, set1(__builtin_inff())), y, x);  // infinity and NaN
  const Vec of_no_number = select(less(x, zero()), set1(__builtin_nanf("")), set1(-__builtin_inff()));
  return select(less(x, set1(0x1p-149f)), of_no_number, y);
}

// Returns e^x for x <= 0: full to 2e-7 relative, coarse to 8e-5, a twenty-sixth of a bf16's rounding. Below -80, which
// is negligible beside the 1 that softmax adds, it is 0: products of smaller numbers would be denormals, each a hundred
// times as slow as a normal number.
template <Accuracy accuracy = Accuracy::full>
RUNG_SIMD Vec exp_negative(Vec x) {
  const Vec magic = set1(12582912.0f);  // 1.5 * 2^23: adding it rounds to an integer in the low bits
  Vec shifted = fma(x, set1(1.44269504f), magic);
  Vec r = fma(x, set1(1.44269504f), magic - shifted);
  Vec y;
  if constexpr (accuracy == Accuracy::coarse) {
    y = fma(set1(0.0551716691f), r, set1(0.242611122f));
    y = fma(y, r, set1(0.693260985f));
    y = fma(y, r, set1(0.999928074f));
  } else {
    // The polynomial is evaluated in pairs, for a shorter chain: the number of chains in flight limits the loop.
    Vec square = r * r;
    y = fma(set1(1.3276472e-3f), r, set1(9.6755413e-3f));
    y = fma(y, square, fma(set1(5.5507133e-2f), r, set1(2.4022120e-1f)));
    y = fma(y, square, fma(set1(6.9314697e-1f), r, set1(1.0000001f)));
  }
  return max(select(less(x, set1(-80.0f)), zero(), add_exponent(y, shifted)), x);  // no smaller than x, or NaN as x is
}

// x P(x^2) / Q(x^2)
template <Accuracy accuracy = Accuracy::full>
RUNG_SIMD Vec tanh(Vec x) {
  if constexpr (accuracy == Accuracy::coarse) {
    Vec t = clamp(x, 6.0f), s = t * t;
    Vec p = fma(fma(set1(0.00151457756f), s, set1(0.114830736f)), s, set1(0.999992677f));
    Vec q = fma(fma(fma(set1(5.62718928e-05f), s, set1(0.0176111583f)), s, set1(0.448113966f)), s, set1(1.0f));
    return divide<accuracy>(t * p, q);
  }
  Vec t = clamp(x, 9.01f), s = t * t;
  Vec p = fma(set1(1.33368626e-08f), s, set1(2.05962853e-05f));
  Vec q = fma(set1(7.76928921e-07f), s, set1(0.000328436438f));
  p = fma(p, s, set1(0.00349481177f)), q = fma(q, s, set1(0.0258740295f));
  p = fma(p, s, set1(0.133803722f)), q = fma(q, s, set1(0.467136876f));
  p = fma(p, s, set1(0.999999979f)), q = fma(q, s, set1(1.0f));
  return divide(t * p, q);
}

template <Accuracy accuracy = Accuracy::full>
RUNG_SIMD Vec erf(Vec x) {
  Vec t = clamp(x, 3.925f), s = t * t;
  if constexpr (accuracy == Accuracy::coarse) {
    Vec p = fma(fma(fma(set1(0.000628633896f), s, set1(0.0411952611f)), s, set1(0.166927642f)), s, set1(1.12835725f));
    Vec q = fma(fma(fma(set1(0.00831286403f), s, set1(0.0973866243f)), s, set1(0.481010483f)), s, set1(1.0f));
    return divide<accuracy>(t * p, q);
  }
  Vec p = fma(set1(2.04601525e-06f), s, set1(0.00028484516f));
  Vec q = fma(set1(3.80477333e-05f), s, set1(0.00116387508f));
  p = fma(p, s, set1(0.00377262156f)), q = fma(q, s, set1(0.0149833419f));
  p = fma(p, s, set1(0.0527695211f)), q = fma(q, s, set1(0.11418341f));
  p = fma(p, s, set1(0.190595415f)), q = fma(q, s, set1(0.502243519f));
  p = fma(p, s, set1(1.12837915f)), q = fma(q, s, set1(1.0f));
  return divide(t * p, q);
}

RUNG_SIMD Vec relu(Vec x) { return max(zero(), x); }

// Returns 1 / (1 + e^-x); the exponent is limited so that 1 + e^-x stays finite, which changes no result above 2^-125.
template <Accuracy accuracy = Accuracy::full>
RUNG_SIMD Vec sigmoid(Vec x) {
  if constexpr (accuracy == Accuracy::coarse) return fma(tanh<accuracy>(x * set1(0.5f)), set1(0.5f), set1(0.5f));
  return divide(set1(1.0f), set1(1.0f) + exp(min(set1(87.0f), negate(x))));
}

template <Accuracy accuracy = Accuracy::full>
RUNG_SIMD Vec silu(Vec x) {
  return x * sigmoid<accuracy>(x);
}

// Below this, gelu is 0 to f32's precision next to 1; limiting x to it keeps erf's error near -1 from growing with x.
inline constexpr float kGeluTail = -5.7f;

// x Phi(x), Phi the normal distribution function.
template <Accuracy accuracy = Accuracy::full>
RUNG_SIMD Vec gelu(Vec x) {
  Vec half = max(set1(kGeluTail), x) * set1(0.5f);
  return fma(half, erf<accuracy>(x * set1(0.707106781f)), half);
}

// x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
template <Accuracy accuracy = Accuracy::full>
RUNG_SIMD Vec gelu_tanh(Vec x) {
  Vec half = max(set1(kGeluTail), x) * set1(0.5f);
  Vec inner = x * fma(x * x, set1(0.0356774081f), set1(0.797884561f));
  return fma(half, tanh<accuracy>(inner), half);
}

}  // namespace rung::cpu::RUNG_ISA
