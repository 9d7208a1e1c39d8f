// The parts of register tiles of matrix products: ways to multiply, sums in registers, pointers to rows of x. Included
// by one file per instruction set.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <utility>

#include "kernels/cpu/linear/copy_rows.hpp"
#include "kernels/cpu/linear/micro.hpp"
#include "kernels/cpu/simd.hpp"

namespace rung::cpu::RUNG_ISA {

// A way to multiply one group of k: f32 on both sides.
struct MultiplyF32 {
  using X = float;
  using W = float;
  static constexpr int kGroup = 1;
};
// bf16 weights by f32 x: the halves of a pair become f32 by a shift and a mask, and the weights' traffic halves.
struct MultiplyWidened {
  using X = float;
  using W = uint16_t;
  static constexpr int kGroup = 2;
};
// bf16 pairs on both sides, summed into f32 by one instruction.
struct MultiplyPairs {
  using X = uint16_t;
  using W = uint16_t;
  static constexpr int kGroup = 2;
};

// i8 weights by f32 x: a byte becomes f32, and the weights' traffic is a quarter.
struct MultiplyWidenedBytes {
  using X = float;
  using W = int8_t;
  static constexpr int kGroup = 1;
};
// Four bytes of x, 128 above their numbers, by four of w, summed into i32, whose bits the sums hold.
struct MultiplyBytes {
  using X = uint8_t;
  using W = int8_t;
  static constexpr int kGroup = 4;
};

template <int rows, int vectors>
struct Sums {
  Vec at[rows][vectors];
};

// One pointer reaches three rows of a run: with a pointer for each row, fourteen would spill. A run is all rows, or one
// of two runs that stand apart.
template <class X, int rows, int run = rows>
struct RowPointers {
  static constexpr int kOfRun = (run + 2) / 3, kCount = rows / run * kOfRun;
  const X* base[kCount];
  RUNG_SIMD int index(int row) { return row / run * kOfRun + row % run / 3; }
  RUNG_SIMD int steps(int row) { return row % run % 3; }
};

// Makes the pointers opaque to the optimiser, which would else keep one for each row and unrolled step, and spill them.
template <class X, int rows, int run>
RUNG_SIMD void pin(RowPointers<X, rows, run>& x) {
#pragma GCC unroll 8
  for (int i = 0; i < x.kCount; ++i) asm("" : "+r"(x.base[i]));
}

template <class X, int rows, int run>
RUNG_SIMD void advance(RowPointers<X, rows, run>& x, int64_t elements) {
#pragma GCC unroll 8
  for (int i = 0; i < x.kCount; ++i) x.base[i] += elements;
}

RUNG_SIMD Vec weights_at(const float* w, int half) {
  (void)half;
  return load(w);
}
RUNG_SIMD Vec weights_at(const int8_t* w, int half) {
  (void)half;
  return load(w);
}
#if defined(__AVX512F__)
RUNG_SIMD Vec weights_at(const uint16_t* w, int half) {
  Ints pair = _mm512_loadu_si512(w);
  return _mm512_castsi512_ps(half == 0 ? _mm512_slli_epi32(pair, 16)
                                       : _mm512_and_si512(pair, _mm512_set1_epi32(static_cast<int>(0xffff0000u))));
}
#else
RUNG_SIMD Vec weights_at(const uint16_t* w, int half) {
  Ints pair = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(w));
  return _mm256_castsi256_ps(half == 0 ? _mm256_slli_epi32(pair, 16)
                                       : _mm256_and_si256(pair, _mm256_set1_epi32(static_cast<int>(0xffff0000u))));
}
#endif

#if defined(__AVX512VNNI__)
template <int rows, int vectors, int run>
RUNG_SIMD void multiply_bytes(Sums<rows, vectors>& sums, const RowPointers<uint8_t, rows, run>& x, int64_t stride,
                              const int8_t* w, int k) {
  Ints b[vectors];
#pragma GCC unroll 4
  for (int v = 0; v < vectors; ++v) b[v] = _mm512_loadu_si512(w + v * kLanes * 4);
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r) {
    int four;
    __builtin_memcpy(&four, x.base[x.index(r)] + x.steps(r) * stride + k, sizeof four);
    const Ints a = _mm512_set1_epi32(four);
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v)
      sums.at[r][v] = _mm512_castsi512_ps(_mm512_dpbusd_epi32(_mm512_castps_si512(sums.at[r][v]), a, b[v]));
  }
}
#endif

// sums += x[.., k] w[k, ..] for one group of k; rows of x are `stride` elements apart.
template <class Multiply, int rows, int vectors, int run>
RUNG_SIMD void multiply(Sums<rows, vectors>& sums, const RowPointers<typename Multiply::X, rows, run>& x,
                        int64_t stride, const typename Multiply::W* w, int k) {
#if defined(__AVX512VNNI__)
  if constexpr (Multiply::kGroup == 4) {
    multiply_bytes(sums, x, stride, w, k);
    return;
  } else
#endif
#if defined(__AVX512BF16__)
      if constexpr (Multiply::kGroup == 2 && sizeof(typename Multiply::X) == 2) {
    __m512bh b[vectors];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) b[v] = reinterpret_cast<__m512bh>(_mm512_loadu_si512(w + v * kLanes * 2));
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r) {
      int pair;
      __builtin_memcpy(&pair, x.base[x.index(r)] + x.steps(r) * stride + k, sizeof pair);
      const __m512bh a = reinterpret_cast<__m512bh>(_mm512_set1_epi32(pair));
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) sums.at[r][v] = _mm512_dpbf16_ps(sums.at[r][v], a, b[v]);
    }
    return;
  } else
#endif
  {
#pragma GCC unroll 2
    for (int half = 0; half < Multiply::kGroup; ++half) {
      Vec b[vectors];
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) b[v] = weights_at(w + v * kLanes * Multiply::kGroup, half);
#pragma GCC unroll 16
      for (int r = 0; r < rows; ++r) {
        const Vec a = set1(static_cast<float>(x.base[x.index(r)][x.steps(r) * stride + k + half]));
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v) sums.at[r][v] = fma(a, b[v], sums.at[r][v]);
      }
    }
  }
}

}  // namespace rung::cpu::RUNG_ISA
