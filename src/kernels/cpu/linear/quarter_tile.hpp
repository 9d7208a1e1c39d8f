// The register tile of a product of sums of quarters (strassen.hpp). Its first call for a panel adds up two quarters of
// w on the way, and the sums go to one or two quarters of the result. Included by one file per instruction set.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/cpu/linear/sum_rows.hpp"
#include "kernels/cpu/linear/tile_parts.hpp"

namespace rung::cpu::RUNG_ISA {

using Weights = gemm::QuarterWeights;

// Where a tile reads weights, and where it keeps their sums.
struct WeightPointers {
  const float *first, *second;
  float* sum;
};

template <Weights weights, int vectors>
RUNG_SIMD Vec weights_of(const WeightPointers& w, int at) {
  const Vec first = load(w.first + at);
  if constexpr (weights == Weights::plain) return first;
  const Vec second = load(w.second + at), made = weights == Weights::sum ? first + second : first - second;
  store(w.sum + at, made);
  return made;
}

template <Weights weights, int rows, int vectors>
RUNG_SIMD void multiply_quarter(Sums<rows, vectors>& sums, const RowPointers<float, rows>& x, int64_t stride,
                                const WeightPointers& w, int k) {
  Vec b[vectors];
#pragma GCC unroll 4
  for (int v = 0; v < vectors; ++v) b[v] = weights_of<weights, vectors>(w, (k * vectors + v) * kLanes);
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r) {
    const Vec a = set1(x.base[x.index(r)][x.steps(r) * stride + k]);
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) sums.at[r][v] = fma(a, b[v], sums.at[r][v]);
  }
}

template <Weights weights>
RUNG_SIMD void advance(WeightPointers& w, int64_t elements) {
  w.first += elements;
  if constexpr (weights != Weights::plain) w.second += elements, w.sum += elements;
}

template <Weights weights, int rows, int vectors>
RUNG_SIMD void multiply_quarters(Sums<rows, vectors>& sums, const gemm::QuarterTile& t) {
  constexpr int kPanel = vectors * kLanes, kUnroll = 4;
  const int64_t stride = t.x_stride, rate = t.rate;
  RowPointers<float, rows> x;
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r)
    if (x.steps(r) == 0) x.base[x.index(r)] = t.x + r * stride;
  WeightPointers w{t.w, t.w_second, t.w_sum};
  const char* ahead = static_cast<const char*>(t.prefetch ? t.prefetch : t.w);
  int64_t left = t.depth;
  for (; left >= kUnroll; left -= kUnroll) {
#pragma GCC unroll 4
    for (int u = 0; u < kUnroll; ++u) {
      if (u < rate) _mm_prefetch(ahead + u * 64, _MM_HINT_T1);
      pin(x);
      multiply_quarter<weights>(sums, x, stride, w, u);
    }
    advance(x, kUnroll);
    advance<weights>(w, kUnroll * kPanel);
    ahead += rate * 64;
  }
  for (; left > 0; --left) {
    multiply_quarter<weights>(sums, x, stride, w, 0);
    advance(x, 1);
    advance<weights>(w, kPanel);
  }
}

template <int rows, int vectors, class Put>
RUNG_SIMD void each_sum(const Sums<rows, vectors>& sums, float* to, const Put& put) {
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) put(to + (r * vectors + v) * kLanes, sums.at[r][v]);
}

template <Weights weights, int rows, int vectors>
void quarter_tile(const gemm::QuarterTile& t) {
  Sums<rows, vectors> sums;
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) sums.at[r][v] = zero();
  multiply_quarters<weights>(sums, t);
  for (const auto& to : t.results) {
    if (!to.sums) continue;
    if (to.begins)
      each_sum(sums, to.sums, [](float* at, Vec sum) { store(at, sum); });
    else if (to.subtracts)
      each_sum(sums, to.sums, [](float* at, Vec sum) { store(at, load(at) - sum); });
    else
      each_sum(sums, to.sums, [](float* at, Vec sum) { store(at, load(at) + sum); });
  }
}

template <int vectors, int most>
inline constexpr gemm::QuarterKernels kQuarterKernels = [] {
  gemm::QuarterKernels made{most, sum_runs, scale_run, largest_of_run, {}};
  [&]<int... i>(std::integer_sequence<int, i...>) {
    ((made.tiles[i + 1][static_cast<int>(Weights::plain)] = quarter_tile<Weights::plain, i + 1, vectors>), ...);
    ((made.tiles[i + 1][static_cast<int>(Weights::sum)] = quarter_tile<Weights::sum, i + 1, vectors>), ...);
    ((made.tiles[i + 1][static_cast<int>(Weights::difference)] = quarter_tile<Weights::difference, i + 1, vectors>),
     ...);
  }
  (std::make_integer_sequence<int, most>());
  return made;
}();

}  // namespace rung::cpu::RUNG_ISA
