// The register tile of the packed matrix product for AVX2 and AVX-512: rows x vectors of sums stay in registers while k
// passes. Included by one file per instruction set.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <utility>

#include "kernels/cpu/linear/finish.hpp"
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

template <int rows, int vectors>
struct Sums {
  Vec at[rows][vectors];
};

// One pointer reaches three rows: with a pointer for each, fourteen rows would spill.
template <class X, int rows>
struct RowPointers {
  const X* base[(rows + 2) / 3];
};

// Makes the pointers opaque to the optimiser, which would else keep one for each row and unrolled step, and spill them.
template <class X, int rows>
RUNG_SIMD void pin(RowPointers<X, rows>& x) {
#pragma GCC unroll 8
  for (int i = 0; i < (rows + 2) / 3; ++i) asm("" : "+r"(x.base[i]));
}

RUNG_SIMD Vec weights_at(const float* w, int half) {
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

// sums += x[.., k] w[k, ..] for one group of k; rows of x are `stride` elements apart.
template <class Multiply, int rows, int vectors>
RUNG_SIMD void multiply(Sums<rows, vectors>& sums, const RowPointers<typename Multiply::X, rows>& x, int64_t stride,
                        const typename Multiply::W* w, int k) {
#if defined(__AVX512BF16__)
  if constexpr (Multiply::kGroup == 2 && sizeof(typename Multiply::X) == 2) {
    __m512bh b[vectors];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) b[v] = reinterpret_cast<__m512bh>(_mm512_loadu_si512(w + v * kLanes * 2));
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r) {
      int pair;
      __builtin_memcpy(&pair, x.base[r / 3] + (r % 3) * stride + k, sizeof pair);
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
        const Vec a = set1(static_cast<float>(x.base[r / 3][(r % 3) * stride + k + half]));
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v) sums.at[r][v] = fma(a, b[v], sums.at[r][v]);
      }
    }
  }
}

template <class Multiply, int rows, int vectors>
void tile(const gemm::Tile& t) {
  using X = typename Multiply::X;
  constexpr int kGroup = Multiply::kGroup, kPanel = vectors * kLanes * kGroup, kUnroll = 4;
  Sums<rows, vectors> sums;
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) sums.at[r][v] = t.accumulate ? load(t.sums + (r * vectors + v) * kLanes) : zero();

  RowPointers<X, rows> x;
#pragma GCC unroll 8
  for (int r = 0; r < rows; r += 3) x.base[r / 3] = static_cast<const X*>(t.x) + r * t.x_stride;
  const auto* w = static_cast<const typename Multiply::W*>(t.w);
  const char* ahead = static_cast<const char*>(t.prefetch ? t.prefetch : t.w);
  int64_t groups = t.depth / kGroup;
  for (; groups >= kUnroll; groups -= kUnroll) {
#pragma GCC unroll 4
    for (int u = 0; u < kUnroll; ++u) {
      _mm_prefetch(ahead + u * 64, _MM_HINT_T0);
      pin(x);
      multiply<Multiply, rows, vectors>(sums, x, t.x_stride, w + u * kPanel, u * kGroup);
    }
#pragma GCC unroll 8
    for (int r = 0; r < rows; r += 3) x.base[r / 3] += kUnroll * kGroup;
    w += kUnroll * kPanel;
    ahead += kUnroll * 64;
  }
  for (; groups > 0; --groups) {
    multiply<Multiply, rows, vectors>(sums, x, t.x_stride, w, 0);
#pragma GCC unroll 8
    for (int r = 0; r < rows; r += 3) x.base[r / 3] += kGroup;
    w += kPanel;
  }
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) store(t.sums + (r * vectors + v) * kLanes, sums.at[r][v]);
}

template <class T>
inline constexpr DType kStored = sizeof(T) == 4 ? DType::f32 : DType::bf16;

// Makes the table of tiles of one row to `most` rows, each with `vectors` vectors of columns.
template <class Multiply, int vectors, int most>
consteval gemm::MicroKernels micro_kernels() {
  gemm::MicroKernels made{.x_type = kStored<typename Multiply::X>,
                          .w_type = kStored<typename Multiply::W>,
                          .width = vectors * kLanes,
                          .max_rows = most,
                          .row_grain = 1,
                          .depth_grain = Multiply::kGroup,
                          .pack_grain = Multiply::kGroup,
                          .prefetch_lines = 1,
                          .tiles = {},
                          .finish = finish,
                          .copy_rows = copy_rows,
                          .enter = nullptr,
                          .leave = nullptr};
  [&]<int... i>(std::integer_sequence<int, i...>) { ((made.tiles[i + 1] = tile<Multiply, i + 1, vectors>), ...); }
  (std::make_integer_sequence<int, most>());
  return made;
}

}  // namespace rung::cpu::RUNG_ISA
