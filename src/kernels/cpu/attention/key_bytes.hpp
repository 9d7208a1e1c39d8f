// Keys and values of a cache of 8 bits, widened as they are loaded. Included by files compiled for an instruction set.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/cpu/simd.hpp"

namespace rung::cpu::RUNG_ISA {

// A float of f8e4m3fn, which is read through pointers only.
struct E4m3 {
  uint8_t code;
};

// A code's bits in the places of an f16's make a number of 2^-8 times its size, denormals included. The code of a NaN
// becomes one of f16.
inline constexpr float kE4m3Unit = 256.0f;
RUNG_SIMD __m128i e4m3_halves(__m128i codes) {
  const __m128i signed_size = _mm_set1_epi16(static_cast<int16_t>(0xbf80)), nan = _mm_set1_epi16(0x3f80);
  const __m128i halves = _mm_and_si128(_mm_slli_epi16(_mm_cvtepi8_epi16(codes), 7), signed_size);
  return _mm_or_si128(halves, _mm_cmpeq_epi16(_mm_and_si128(halves, nan), nan));
}
RUNG_SIMD __m256 load8(const E4m3* p) {
  const __m128i codes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p));
  return _mm256_cvtph_ps(e4m3_halves(codes)) * _mm256_set1_ps(kE4m3Unit);
}

#if defined(__AVX512F__)

RUNG_SIMD Vec widen_e4m3(__m128i codes) {
  const __m256i signed_size = _mm256_set1_epi16(static_cast<int16_t>(0xbf80)), nan = _mm256_set1_epi16(0x3f80);
  const __m256i halves = _mm256_and_si256(_mm256_slli_epi16(_mm256_cvtepi8_epi16(codes), 7), signed_size);
  const __m256i nans = _mm256_cmpeq_epi16(_mm256_and_si256(halves, nan), nan);
  return _mm512_cvtph_ps(_mm256_or_si256(halves, nans)) * set1(kE4m3Unit);
}
RUNG_SIMD Vec load(const E4m3* p) { return widen_e4m3(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))); }
RUNG_SIMD Vec load(const E4m3* p, int n) { return widen_e4m3(_mm_maskz_loadu_epi8(first(n), p)); }

#else

RUNG_SIMD Vec load(const E4m3* p) { return load8(p); }
RUNG_SIMD Vec load(const E4m3* p, int n) {
  alignas(8) E4m3 copy[8] = {};
  for (int i = 0; i < n; ++i) copy[i] = p[i];
  return load8(copy);
}

#endif

}  // namespace rung::cpu::RUNG_ISA
