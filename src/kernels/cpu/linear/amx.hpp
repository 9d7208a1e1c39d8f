// The micro-kernel for AMX: 32 x 32 sums in four tiles, fed by two tiles of x and two of packed weights.
// SPDX-License-Identifier: Apache-2.0
//
// One file per type includes it, and defines RUNG_TILE_PRODUCT(sums, x, w), the instruction that multiplies tiles: a
// tile's number is text to the compiler, so that no function can pass it on.
#pragma once
#include "kernels/cpu/amx_tiles.hpp"
#include "kernels/cpu/linear/copy_rows.hpp"

namespace rung::cpu::RUNG_ISA {

constexpr int64_t kWidth = 32;             // columns of a panel: two tiles
constexpr int64_t kPanelRow = 4 * kWidth;  // bytes of one row of groups of k, and of one row of sums
constexpr int kLines = 16 * kPanelRow / 64;

// Tiles 0..3 hold sums (first rows left and right, second rows left and right), 4 and 5 hold x, 6 and 7 hold weights.
template <int row_tiles>
RUNG_SIMD void load_sums(const gemm::Tile& t) {
  _tile_loadd(0, t.sums, kPanelRow);
  _tile_loadd(1, t.sums + 16, kPanelRow);
  if constexpr (row_tiles == 2) {
    _tile_loadd(2, t.sums + 16 * kWidth, kPanelRow);
    _tile_loadd(3, t.sums + 16 * kWidth + 16, kPanelRow);
  }
}

RUNG_SIMD void zero_sums() {
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
}

template <int row_tiles>
RUNG_SIMD void store_sums(const gemm::Tile& t) {
  _tile_stored(0, t.sums, kPanelRow);
  _tile_stored(1, t.sums + 16, kPanelRow);
  if constexpr (row_tiles == 2) {
    _tile_stored(2, t.sums + 16 * kWidth, kPanelRow);
    _tile_stored(3, t.sums + 16 * kWidth + 16, kPanelRow);
  }
}

// A tile's row is 64 bytes of x.
template <class X, int row_tiles>
void amx_tile(const gemm::Tile& t) {
  constexpr int64_t kDepth = 64 / sizeof(X);
  t.accumulate ? load_sums<row_tiles>(t) : zero_sums();
  const auto* x = static_cast<const X*>(t.x);
  const auto* w = static_cast<const char*>(t.w);
  const auto* ahead = static_cast<const char*>(t.prefetch);
  const int64_t x_bytes = t.x_stride * static_cast<int64_t>(sizeof(X));
  for (int64_t k = 0; k < t.depth; k += kDepth) {
    _tile_loadd(6, w, kPanelRow);
    _tile_loadd(4, x + k, x_bytes);
    RUNG_TILE_PRODUCT(0, 4, 6);
    _tile_loadd(7, w + 64, kPanelRow);
    RUNG_TILE_PRODUCT(1, 4, 7);
    if constexpr (row_tiles == 2) {
      _tile_loadd(5, x + 16 * t.x_stride + k, x_bytes);
      RUNG_TILE_PRODUCT(2, 5, 6);
      RUNG_TILE_PRODUCT(3, 5, 7);
    }
    if (ahead) {
#pragma GCC unroll 32
      for (int line = 0; line < kLines; ++line) _mm_prefetch(ahead + line * 64, _MM_HINT_T0);
      ahead += kLines * 64;
    }
    w += 16 * kPanelRow;
  }
  store_sums<row_tiles>(t);
}

template <class X>
consteval gemm::MicroKernels amx_kernels(DType type) {
  gemm::MicroKernels m{.x_type = type,
                       .w_type = type,
                       .width = kWidth,
                       .max_rows = 32,
                       .row_grain = 16,
                       .depth_grain = 64 / sizeof(X),
                       .pack_grain = 4 / sizeof(X),
                       .prefetch_lines = kLines,
                       .x_offset = 0,
                       .tiles = {},
                       .narrow = 0,
                       .narrow_tiles = {},
                       .most_paired = 0,
                       .pair_tiles = {},
                       .finish = finish,
                       .copy_rows = copy_rows,
                       .gather_rows = gather_rows,
                       .enter = enter,
                       .leave = leave};
  m.tiles[16] = amx_tile<X, 1>;
  m.tiles[32] = amx_tile<X, 2>;
  return m;
}

}  // namespace rung::cpu::RUNG_ISA
