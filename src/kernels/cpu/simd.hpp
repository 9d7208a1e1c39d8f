// Vector instructions spelled once for AVX2 and AVX-512: f32 vectors, masked tails, loads and stores that convert.
// SPDX-License-Identifier: Apache-2.0
//
// Include it only from files compiled for an instruction set (named *_avx2.cpp, *_avx512.cpp, ...). Everything lives in
// a namespace named for that set, so that copies compiled differently never meet in the linker. For the same reason
// such a file must not call inline functions of shared headers (std:: ones neither): an unoptimised build may keep the
// copy that holds the newer instructions for the whole program.
#pragma once
// GCC 12 warns of its own headers' "undefined" vectors as uninitialised once they are inlined.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#include <immintrin.h>
#pragma GCC diagnostic pop

#include <cstdint>

#if defined(__AMX_BF16__) || defined(__AMXBF16__)  // the latter is Clang 14's name
#define RUNG_ISA amx_bf16
#elif defined(__AMX_INT8__) || defined(__AMXINT8__)
#define RUNG_ISA amx_int8
#elif defined(__AVX512BF16__)
#define RUNG_ISA avx512_bf16
#elif defined(__AVX512VNNI__)
#define RUNG_ISA avx512_vnni
#elif defined(__AVX512F__)
#define RUNG_ISA avx512
#elif defined(__AVX2__)
#define RUNG_ISA avx2
#else
#error "simd.hpp wants a file compiled for AVX2 or newer; name it *_avx2.cpp, *_avx512.cpp, ..."
#endif
#define RUNG_SIMD static inline __attribute__((always_inline))

namespace rung {
struct bf16;
struct f16;
}  // namespace rung

namespace rung::cpu::RUNG_ISA {

// 16-bit elements are read and written through pointers only: their C++ types stay opaque here.
RUNG_SIMD const uint16_t* bits_of(const void* p) { return static_cast<const uint16_t*>(p); }
RUNG_SIMD uint16_t* bits_of(void* p) { return static_cast<uint16_t*>(p); }

#if defined(__AVX512F__)

inline constexpr int kLanes = 16;
using Vec = __m512;    // 16 f32; + - * / work on it
using Ints = __m512i;  // 16 i32
using Mask = __mmask16;

RUNG_SIMD Vec zero() { return _mm512_setzero_ps(); }
RUNG_SIMD Vec set1(float x) { return _mm512_set1_ps(x); }
RUNG_SIMD Mask first(int n) { return static_cast<Mask>(n >= kLanes ? 0xffffu : (1u << n) - 1u); }  // lanes 0..n-1
RUNG_SIMD Vec fma(Vec a, Vec b, Vec c) { return _mm512_fmadd_ps(a, b, c); }                        // a b + c
RUNG_SIMD Vec fnma(Vec a, Vec b, Vec c) { return _mm512_fnmadd_ps(a, b, c); }                      // c - a b
RUNG_SIMD Vec min(Vec a, Vec b) { return _mm512_min_ps(a, b); }                                    // b if either is NaN
RUNG_SIMD Vec max(Vec a, Vec b) { return _mm512_max_ps(a, b); }                                    // b if either is NaN
RUNG_SIMD Vec sqrt(Vec a) { return _mm512_sqrt_ps(a); }
constexpr bool has_reciprocal_estimate() { return true; }
RUNG_SIMD Vec estimate_reciprocal(Vec a) { return _mm512_rcp14_ps(a); }  // to 2^-14
RUNG_SIMD Vec abs(Vec a) { return _mm512_abs_ps(a); }
RUNG_SIMD Vec negate(Vec a) { return _mm512_xor_ps(a, _mm512_set1_ps(-0.0f)); }
RUNG_SIMD Vec round(Vec a) { return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
RUNG_SIMD Mask less(Vec a, Vec b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
RUNG_SIMD bool all(Mask m) { return m == 0xffff; }
RUNG_SIMD Vec select(Mask m, Vec yes, Vec no) { return _mm512_mask_blend_ps(m, no, yes); }
// Returns y 2^n for an n that stands in the low bits of `shifted`; y and the result are normal.
RUNG_SIMD Vec add_exponent(Vec y, Vec shifted) {
  return _mm512_castsi512_ps(
      _mm512_add_epi32(_mm512_castps_si512(y), _mm512_slli_epi32(_mm512_castps_si512(shifted), 23)));
}
// Returns p 2^n for integral n, right down to denormals.
RUNG_SIMD Vec scale2(Vec p, Vec n) { return _mm512_scalef_ps(p, n); }
RUNG_SIMD float sum(Vec a) { return _mm512_reduce_add_ps(a); }
RUNG_SIMD float maximum(Vec a) { return _mm512_reduce_max_ps(a); }
// The largest |x| of vectors, as bits, whose order keeps a NaN on top.
RUNG_SIMD Ints no_size() { return _mm512_setzero_si512(); }
RUNG_SIMD Ints larger_size(Ints largest, Vec x) { return _mm512_max_epu32(largest, _mm512_castps_si512(abs(x))); }
RUNG_SIMD float maximum_size(Ints largest) {
  return __builtin_bit_cast(float, static_cast<uint32_t>(_mm512_reduce_max_epu32(largest)));
}

RUNG_SIMD Vec widen_bf16(__m256i h) { return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(h), 16)); }
// Rounds to nearest even; a NaN stays a quiet NaN. (The BF16 instruction makes zeros of denormals.)
RUNG_SIMD __m256i narrow_bf16(Vec v) {
#if defined(__AVX512BF16__)
  return reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(v));
#else
  Ints u = _mm512_castps_si512(v);
  Ints odd = _mm512_and_si512(_mm512_srli_epi32(u, 16), _mm512_set1_epi32(1));
  Ints rounded = _mm512_srli_epi32(_mm512_add_epi32(_mm512_add_epi32(u, _mm512_set1_epi32(0x7fff)), odd), 16);
  Ints quiet = _mm512_or_si512(_mm512_srli_epi32(u, 16), _mm512_set1_epi32(0x40));
  return _mm512_cvtepi32_epi16(_mm512_mask_mov_epi32(rounded, _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q), quiet));
#endif
}

RUNG_SIMD Vec load(const float* p) { return _mm512_loadu_ps(p); }
RUNG_SIMD Vec load(const bf16* p) { return widen_bf16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))); }
RUNG_SIMD Vec load(const f16* p) { return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))); }
RUNG_SIMD Vec widen_bytes(__m128i b) { return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(b)); }
RUNG_SIMD Vec load(const int8_t* p) { return widen_bytes(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))); }
// The first n elements (0 <= n <= kLanes), zeros after; nothing beyond is touched.
RUNG_SIMD Vec load(const float* p, int n) { return _mm512_maskz_loadu_ps(first(n), p); }
RUNG_SIMD Vec load(const bf16* p, int n) { return widen_bf16(_mm256_maskz_loadu_epi16(first(n), p)); }
RUNG_SIMD Vec load(const f16* p, int n) { return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(first(n), p)); }
RUNG_SIMD Vec load(const int8_t* p, int n) { return widen_bytes(_mm_maskz_loadu_epi8(first(n), p)); }
// The elements at such places behind p.
RUNG_SIMD Vec gather(const float* p, const int32_t* places) {
  return _mm512_i32gather_ps(_mm512_loadu_si512(places), p, 4);
}
RUNG_SIMD void store(float* p, Vec v) { _mm512_storeu_ps(p, v); }
RUNG_SIMD void store(bf16* p, Vec v) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), narrow_bf16(v)); }
RUNG_SIMD void store(f16* p, Vec v) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
// Rounds to nearest even integers, which fit into 8 bits; a NaN becomes 0.
RUNG_SIMD void store(int8_t* p, Vec v) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtepi32_epi8(_mm512_cvtps_epi32(v)));
}
RUNG_SIMD void store(int8_t* p, Vec v, int n) {
  _mm_mask_storeu_epi8(p, first(n), _mm512_cvtepi32_epi8(_mm512_cvtps_epi32(v)));
}
RUNG_SIMD void store(float* p, Vec v, int n) { _mm512_mask_storeu_ps(p, first(n), v); }
RUNG_SIMD void store(bf16* p, Vec v, int n) { _mm256_mask_storeu_epi16(p, first(n), narrow_bf16(v)); }
RUNG_SIMD void store(f16* p, Vec v, int n) {
  _mm256_mask_storeu_epi16(p, first(n), _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

#else

inline constexpr int kLanes = 8;
using Vec = __m256;    // 8 f32; + - * / work on it
using Ints = __m256i;  // 8 i32
using Mask = __m256;   // all ones or all zeros per lane

RUNG_SIMD Vec zero() { return _mm256_setzero_ps(); }
RUNG_SIMD Vec set1(float x) { return _mm256_set1_ps(x); }
RUNG_SIMD Mask first(int n) {  // lanes 0..n-1
  return _mm256_castsi256_ps(_mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)));
}
RUNG_SIMD Vec fma(Vec a, Vec b, Vec c) { return _mm256_fmadd_ps(a, b, c); }    // a b + c
RUNG_SIMD Vec fnma(Vec a, Vec b, Vec c) { return _mm256_fnmadd_ps(a, b, c); }  // c - a b
RUNG_SIMD Vec min(Vec a, Vec b) { return _mm256_min_ps(a, b); }                // b if either is NaN
RUNG_SIMD Vec max(Vec a, Vec b) { return _mm256_max_ps(a, b); }                // b if either is NaN
RUNG_SIMD Vec sqrt(Vec a) { return _mm256_sqrt_ps(a); }
constexpr bool has_reciprocal_estimate() { return false; }
RUNG_SIMD Vec estimate_reciprocal(Vec a) { return _mm256_set1_ps(1.0f) / a; }
RUNG_SIMD Vec abs(Vec a) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a); }
RUNG_SIMD Vec negate(Vec a) { return _mm256_xor_ps(a, _mm256_set1_ps(-0.0f)); }
RUNG_SIMD Vec round(Vec a) { return _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
RUNG_SIMD Mask less(Vec a, Vec b) { return _mm256_cmp_ps(a, b, _CMP_LT_OQ); }
RUNG_SIMD bool all(Mask m) { return _mm256_movemask_ps(m) == 0xff; }
RUNG_SIMD Vec select(Mask m, Vec yes, Vec no) { return _mm256_blendv_ps(no, yes, m); }
// Returns y 2^n for an n that stands in the low bits of `shifted`; y and the result are normal.
RUNG_SIMD Vec add_exponent(Vec y, Vec shifted) {
  return _mm256_castsi256_ps(
      _mm256_add_epi32(_mm256_castps_si256(y), _mm256_slli_epi32(_mm256_castps_si256(shifted), 23)));
}
// Returns p 2^n for integral n in [-252, 254], right down to denormals, in two steps, as 2^n itself may be no float.
RUNG_SIMD Vec scale2(Vec p, Vec n) {
  Ints whole = _mm256_cvtps_epi32(n), half = _mm256_srai_epi32(whole, 1), rest = _mm256_sub_epi32(whole, half);
  const Ints bias = _mm256_set1_epi32(127);
  Vec a = _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(half, bias), 23));
  Vec b = _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(rest, bias), 23));
  return p * a * b;
}
RUNG_SIMD float sum(Vec a) {
  __m128 s = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
  s = _mm_add_ps(s, _mm_movehl_ps(s, s));
  return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}
RUNG_SIMD float maximum(Vec a) {
  __m128 s = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
  s = _mm_max_ps(s, _mm_movehl_ps(s, s));
  return _mm_cvtss_f32(_mm_max_ss(s, _mm_movehdup_ps(s)));
}
// The largest |x| of vectors, as bits, whose order keeps a NaN on top.
RUNG_SIMD Ints no_size() { return _mm256_setzero_si256(); }
RUNG_SIMD Ints larger_size(Ints largest, Vec x) { return _mm256_max_epu32(largest, _mm256_castps_si256(abs(x))); }
RUNG_SIMD float maximum_size(Ints largest) {
  __m128i m = _mm_max_epu32(_mm256_castsi256_si128(largest), _mm256_extracti128_si256(largest, 1));
  m = _mm_max_epu32(m, _mm_unpackhi_epi64(m, m));
  m = _mm_max_epu32(m, _mm_shuffle_epi32(m, 1));
  return __builtin_bit_cast(float, _mm_cvtsi128_si32(m));
}

RUNG_SIMD Vec widen_bf16(__m128i h) { return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(h), 16)); }
// Rounds to nearest even; a NaN stays a quiet NaN.
RUNG_SIMD __m128i narrow_bf16(Vec v) {
  Ints u = _mm256_castps_si256(v);
  Ints odd = _mm256_and_si256(_mm256_srli_epi32(u, 16), _mm256_set1_epi32(1));
  Ints rounded = _mm256_srli_epi32(_mm256_add_epi32(_mm256_add_epi32(u, _mm256_set1_epi32(0x7fff)), odd), 16);
  Ints quiet = _mm256_or_si256(_mm256_srli_epi32(u, 16), _mm256_set1_epi32(0x40));
  Ints nan = _mm256_castps_si256(_mm256_cmp_ps(v, v, _CMP_UNORD_Q));
  Ints chosen = _mm256_blendv_epi8(rounded, quiet, nan);
  return _mm_packus_epi32(_mm256_castsi256_si128(chosen), _mm256_extracti128_si256(chosen, 1));
}

// AVX2 masks 32-bit lanes only; 16-bit tails go through a small copy.
RUNG_SIMD __m128i load_tail16(const void* p, int n) {
  alignas(16) uint16_t copy[8] = {};
  for (int i = 0; i < n; ++i) copy[i] = bits_of(p)[i];
  return _mm_load_si128(reinterpret_cast<const __m128i*>(copy));
}
RUNG_SIMD void store_tail16(void* p, __m128i v, int n) {
  alignas(16) uint16_t copy[8];
  _mm_store_si128(reinterpret_cast<__m128i*>(copy), v);
  for (int i = 0; i < n; ++i) bits_of(p)[i] = copy[i];
}

RUNG_SIMD Vec load(const float* p) { return _mm256_loadu_ps(p); }
RUNG_SIMD Vec load(const bf16* p) { return widen_bf16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))); }
RUNG_SIMD Vec load(const f16* p) { return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))); }
RUNG_SIMD Vec widen_bytes(__m128i b) { return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(b)); }
RUNG_SIMD Vec load(const int8_t* p) { return widen_bytes(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))); }
// The first n elements (0 <= n <= kLanes), zeros after; nothing beyond is touched.
RUNG_SIMD Vec load(const float* p, int n) { return _mm256_maskload_ps(p, _mm256_castps_si256(first(n))); }
RUNG_SIMD Vec load(const bf16* p, int n) { return widen_bf16(load_tail16(p, n)); }
RUNG_SIMD Vec load(const f16* p, int n) { return _mm256_cvtph_ps(load_tail16(p, n)); }
RUNG_SIMD Vec load(const int8_t* p, int n) {
  alignas(8) int8_t copy[8] = {};
  for (int i = 0; i < n; ++i) copy[i] = p[i];
  return load(copy);
}
RUNG_SIMD Vec gather(const float* p, const int32_t* places) {
  return _mm256_i32gather_ps(p, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(places)), 4);
}
RUNG_SIMD void store(float* p, Vec v) { _mm256_storeu_ps(p, v); }
RUNG_SIMD void store(bf16* p, Vec v) { _mm_storeu_si128(reinterpret_cast<__m128i*>(p), narrow_bf16(v)); }
RUNG_SIMD void store(f16* p, Vec v) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
// Rounds to nearest even integers, which fit into 8 bits; a NaN becomes 0.
RUNG_SIMD __m128i narrow_bytes(Vec v) {
  const Ints rounded = _mm256_cvtps_epi32(v);  // INT_MIN for a NaN, which saturates twice unless it is cleared
  const Ints numbers = _mm256_and_si256(rounded, _mm256_castps_si256(_mm256_cmp_ps(v, v, _CMP_ORD_Q)));
  const __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(numbers), _mm256_extracti128_si256(numbers, 1));
  return _mm_packs_epi16(words, words);
}
RUNG_SIMD void store(int8_t* p, Vec v) { _mm_storel_epi64(reinterpret_cast<__m128i*>(p), narrow_bytes(v)); }
RUNG_SIMD void store(int8_t* p, Vec v, int n) {
  alignas(8) int8_t copy[8];
  store(copy, v);
  for (int i = 0; i < n; ++i) p[i] = copy[i];
}
RUNG_SIMD void store(float* p, Vec v, int n) { _mm256_maskstore_ps(p, _mm256_castps_si256(first(n)), v); }
RUNG_SIMD void store(bf16* p, Vec v, int n) { store_tail16(p, narrow_bf16(v), n); }
RUNG_SIMD void store(f16* p, Vec v, int n) {
  store_tail16(p, _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC), n);
}

#endif

}  // namespace rung::cpu::RUNG_ISA
