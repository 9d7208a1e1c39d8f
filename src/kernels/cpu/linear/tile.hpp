// The register tile of the packed matrix product for AVX2 and AVX-512: rows x vectors of sums stay in registers while k
// passes. Included by one file per instruction set.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/cpu/linear/quarter_tile.hpp"
#include "kernels/cpu/linear/stream.hpp"
#include "kernels/cpu/linear/tile_parts.hpp"

namespace rung::cpu::RUNG_ISA {

// Returns what the sums of a vector of columns start from where nothing was added yet: the panel begins with it.
template <class Multiply>
RUNG_SIMD Vec first_sums(const gemm::Tile& t, int width, int vector) {
  if constexpr (sizeof(typename Multiply::X) == 1)
    return load(reinterpret_cast<const float*>(t.w) + (vector - width) * kLanes);
  return zero();
}

// A panel of `width` vectors, of which the tile takes the first ones. Rows stand in runs of `run`.
template <class Multiply, int rows, int vectors, int width = vectors, int run = rows>
void tile(const gemm::Tile& t) {
  using X = typename Multiply::X;
  constexpr int kGroup = Multiply::kGroup, kPanel = width * kLanes * kGroup, kUnroll = 4;
  Sums<rows, vectors> sums;
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v)
      sums.at[r][v] = t.accumulate ? load(t.sums + (r * width + v) * kLanes) : first_sums<Multiply>(t, width, v);

  RowPointers<X, rows, run> x;
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r)
    if (x.steps(r) == 0) x.base[x.index(r)] = static_cast<const X*>(t.x) + r / run * t.x_run + r % run * t.x_stride;
  const auto* w = static_cast<const typename Multiply::W*>(t.w);
  const char* ahead = static_cast<const char*>(t.prefetch ? t.prefetch : t.w);
  for (int64_t line = t.lines; line > 0; --line) {
    int64_t groups = t.depth / kGroup;
    for (; groups >= kUnroll; groups -= kUnroll) {
      if constexpr (rows == 1)
        if (t.streams) prefetch_stream<kUnroll * kPanel* static_cast<int>(sizeof *w)>(w);
#pragma GCC unroll 4
      for (int u = 0; u < kUnroll; ++u) {
        if (u < t.rate) _mm_prefetch(ahead + u * 64, _MM_HINT_T1);
        pin(x);
        multiply<Multiply>(sums, x, t.x_stride, w + u * kPanel, u * kGroup);
      }
      advance(x, kUnroll * kGroup);
      w += kUnroll * kPanel;
      ahead += t.rate * 64;
    }
    for (; groups > 0; --groups) {
      multiply<Multiply>(sums, x, t.x_stride, w, 0);
      advance(x, kGroup);
      w += kPanel;
    }
    advance(x, t.x_line - t.depth);
  }
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) store(t.sums + (r * width + v) * kLanes, sums.at[r][v]);
}

template <class T>
inline constexpr DType kStored = sizeof(T) == 4 ? DType::f32 : DType::bf16;
template <>
inline constexpr DType kStored<int8_t> = DType::i8;
template <>
inline constexpr DType kStored<uint8_t> = DType::u8;

// Makes the table of tiles of one row to `most` rows, each with `vectors` vectors of columns, or one less.
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
                          .x_offset = sizeof(typename Multiply::X) == 1 ? 128 : 0,
                          .tiles = {},
                          .narrow = (vectors - 1) * kLanes,
                          .narrow_tiles = {},
                          .most_paired = most / 2,
                          .pair_tiles = {},
                          .finish = finish,
                          .copy_rows = copy_rows,
                          .gather_rows = gather_rows,
                          .enter = nullptr,
                          .leave = nullptr,
                          .quarters = nullptr};
  // Sums of quarters were no faster on 16 registers. A tile of all rows has no register left for what they add to.
  if constexpr (std::is_same_v<Multiply, MultiplyF32> && kLanes == 16 && vectors == 2)
    made.quarters = &kQuarterKernels<vectors, most - 1>;
  [&]<int... i>(std::integer_sequence<int, i...>) {
    ((made.tiles[i + 1] = tile<Multiply, i + 1, vectors>), ...);
    ((made.narrow_tiles[i + 1] = tile<Multiply, i + 1, vectors - 1, vectors>), ...);
  }
  (std::make_integer_sequence<int, most>());
  [&]<int... i>(std::integer_sequence<int, i...>) {
    ((made.pair_tiles[i + 1] = tile<Multiply, 2 * (i + 1), vectors, vectors, i + 1>), ...);
  }
  (std::make_integer_sequence<int, most / 2>());
  return made;
}

}  // namespace rung::cpu::RUNG_ISA
