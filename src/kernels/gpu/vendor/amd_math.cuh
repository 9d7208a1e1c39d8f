// Functions on floats for AMD: exp, log and sqrt are the compiler's. Sines, cosines and powers are written here, since
// the compiler would use the hardware, which does not reduce their arguments; so are functions that it lacks.
// SPDX-License-Identifier: Apache-2.0
// Errors in units in the last place, for any argument: tanh and erfc 3.5, log 2, sin and cos 1.6, exp, erf and rsqrt 1,
// pow 0.51, sqrt 0.5 (tests/conformance/gpu_math_test.cpp).
#pragma once

__device__ inline float expf(float x) { return __builtin_expf(x); }
__device__ inline float logf(float x) { return __builtin_logf(x); }
__device__ inline float sqrtf(float x) { return __builtin_sqrtf(x); }
// The hardware treats a denormal argument as 0.
__device__ inline float rsqrtf(float x) {
  const bool tiny = x < 0x1p-126f;
  return __builtin_amdgcn_rsqf(tiny ? x * 0x1p24f : x) * (tiny ? 0x1p12f : 1.0f);
}
__device__ inline float fabsf(float x) { return __builtin_fabsf(x); }
__device__ inline float fmaxf(float x, float y) { return __builtin_fmaxf(x, y); }
__device__ inline float fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
__device__ inline float nanf(const char*) { return __builtin_nanf(""); }

// Evaluates the polynomial with these coefficients, the highest power's first.
template <int n>
__device__ inline float polynomial(const float (&c)[n], float x) {
  float y = c[0];
#pragma unroll
  for (int i = 1; i < n; ++i) y = fmaf(y, x, c[i]);
  return y;
}
__device__ inline float tanhf(float x) {
  const float a = fabsf(x), s = x * x;
  if (a < 0.55f) {
    constexpr float c[] = {1.57296315e-2f, -5.23030907e-2f, 1.33152485e-1f, -3.33327681e-1f};
    return fmaf(polynomial(c, s) * s, x, x);
  }
  return __builtin_copysignf(a != a ? a : 1.0f - 2.0f / (expf(2.0f * a) + 1.0f), x);
}
__device__ inline float erff(float x) {
  const float t = fabsf(x), s = x * x;
  if (t > 0.927734375f) {
    float r = fmaf(fmaf(-1.72853470e-5f, t, 3.83197126e-4f), s, fmaf(-3.88396438e-3f, t, 2.42546219e-2f));
    r = fmaf(fmaf(fmaf(r, t, -1.06777877e-1f), t, -6.34846687e-1f), t, -1.28717512e-1f);
    return __builtin_copysignf(1.0f - expf(fmaf(r, t, -t)), x);
  }
  constexpr float c[] = {-5.96761703e-4f, 4.99119423e-3f, -2.67681349e-2f,
                         1.12819925e-1f,  -3.76125336e-1f, 1.28379166e-1f};
  return fmaf(polynomial(c, s), x, x);
}
__device__ inline float erfcf(float x) {
  const float a = fabsf(x), inverse = 1.0f / (a + 4.0f);
  float q = (a - 4.0f) * inverse;
  q = fmaf(inverse, fmaf(q, -a, fmaf(q + 1.0f, -4.0f, a)), q);
  constexpr float c[] = {0x1.82561ep-11f, 0x1.b41656p-8f,  -0x1.081280p-6f, 0x1.2b31a2p-5f,
                         -0x1.107348p-4f, 0x1.804830p-4f,  -0x1.9dbc30p-4f, 0x1.16e7f8p-4f,
                         0x1.f7eaecp-7f,  -0x1.1df1a2p-3f, 0x1.dd2c8cp-3f};
  const float p = polynomial(c, q), r = 1.0f / fmaf(2.0f, a, 1.0f), s = a * a, e = expf(-s);
  q = fmaf(p, r, r);
  q = fmaf(fmaf(fmaf(q, -a, 0.5f), 2.0f, p - q), r, q);
  q = a > 10.0546875f ? 0.0f : fmaf(q, e, q * e * fmaf(-a, a, s));
  return x != x ? x : x < 0 ? 2.0f - q : q;
}
// An angle as whole quarters of a turn and a rest, at most an eighth of a turn.
struct Quarters {
  int count;  // modulo 4 at least
  float rest;
};
// Reduces x below 2^25 by two parts of pi/2 in f64, in which these machines compute as fast as in f32.
__device__ inline Quarters quarters_of(float x) {
  const double n = __builtin_rint(double{x} * 0.63661977236758138);
  const double rest = __builtin_fma(-n, 6.123233995736766e-17, __builtin_fma(-n, 1.5707963267948966, double{x}));
  return {static_cast<int>(n), static_cast<float>(rest)};
}
// Reduces x from 2^25 on: x is a whole number m 2^e, and the bits of 2/pi above weight 2^(1 - e) times x are whole
// turns. The next 96 bits times m are x in quarters of a turn, modulo 4, with 62 bits behind the point.
__device__ inline Quarters quarters_of_large(float x) {
  constexpr uint32_t two_over_pi[] = {0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041,
                                      0xfe5163ab};
  const uint32_t bits = __builtin_bit_cast(uint32_t, x), m = (bits & 0x7fffffu) | 0x800000u;
  const uint32_t skipped = (bits >> 23 & 0xffu) - 152;  // bits of 2/pi: e - 2
  uint32_t window[3];
#pragma unroll
  for (int i = 0; i < 3; ++i) {
    const uint32_t* word = two_over_pi + skipped / 32 + i;
    window[i] = static_cast<uint32_t>((uint64_t{word[0]} << 32 | word[1]) << skipped % 32 >> 32);
  }
  const uint64_t product = (uint64_t{m * window[0]} << 32) + uint64_t{m} * window[1] + (uint64_t{m} * window[2] >> 32);
  const uint64_t whole = (product + (uint64_t{1} << 61)) >> 62;
  const double rest = static_cast<double>(static_cast<int64_t>(product - (whole << 62))) * 0x1.921fb54442d18p-62;
  const int count = static_cast<int>(whole);
  return x < 0 ? Quarters{-count, static_cast<float>(-rest)} : Quarters{count, static_cast<float>(rest)};
}
// Returns the sine of x + quarter * pi/2.
__device__ inline float sine_of(float x, int quarter) {
  const bool large = fabsf(x) >= 33554432.0f && fabsf(x) < INFINITY;
  const Quarters angle = large ? quarters_of_large(x) : quarters_of(x);
  const float r = angle.rest, s = r * r;
  const int k = angle.count + quarter;
  constexpr float cosine[] = {2.44331571e-5f, -1.38873162e-3f, 4.16666456e-2f, -0.5f, 1.0f};
  constexpr float sine[] = {-1.95152959e-4f, 8.33216087e-3f, -1.66666546e-1f};
  const float y = k & 1 ? polynomial(cosine, s) : fmaf(polynomial(sine, s) * s, r, r);
  return k & 2 ? -y : y;
}
__device__ inline float sinf(float x) { return sine_of(x, 0); }
__device__ inline float cosf(float x) { return sine_of(x, 1); }
// Computes 2^(y log2 x) in f64 for a finite x > 0 and a finite y.
__device__ inline float power_of_positive(float x, float y) {
  int exponent = __builtin_amdgcn_frexp_exp(double{x});
  double m = __builtin_amdgcn_frexp_mant(double{x});  // [0.5, 1)
  if (m < 0.70710678118654752) m *= 2, --exponent;
  const double s = (m - 1) / (m + 1), t = s * s;
  double log = 2.0 / 15, e = 1;
  for (int i = 13; i > 0; i -= 2) log = __builtin_fma(log, t, 2.0 / i);
  const double all = double{y} * __builtin_fma(log * s, 1.4426950408889634, static_cast<double>(exponent));
  const double z = all < -200 ? -200 : all > 200 ? 200 : all, n = __builtin_rint(z), f = (z - n) * 0.69314718055994531;
  for (int i = 10; i > 0; --i) e = __builtin_fma(e * f, 1.0 / i, 1.0);
  return static_cast<float>(__builtin_amdgcn_ldexp(e, static_cast<int>(n)));
}
__device__ inline float powf(float x, float y) {
  if (y == 0 || x == 1) return 1;
  if (x != x || y != y) return x + y;
  const float a = fabsf(x);
  const bool whole = __builtin_truncf(y) == y, odd = whole && fabsf(y) < 16777216.0f && (static_cast<int>(y) & 1);
  if (a != 0 && a != INFINITY && fabsf(y) == INFINITY) return a == 1 ? 1.0f : (a > 1) == (y > 0) ? INFINITY : 0.0f;
  if (x < 0 && a != INFINITY && !whole) return __builtin_nanf("");
  const float r = a != 0 && a != INFINITY ? power_of_positive(a, y) : (a == 0) == (y < 0) ? INFINITY : 0.0f;
  return odd ? __builtin_copysignf(r, x) : r;
}
