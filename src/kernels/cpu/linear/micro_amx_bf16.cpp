// Micro-kernel for AMX: 32 x 32 sums in four tiles, fed by two tiles of x and two of packed weights.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/amx_tiles.hpp"
#include "kernels/cpu/linear/finish.hpp"

namespace rung::cpu::gemm {

using namespace amx_bf16;

namespace {

constexpr int64_t kDepth = 32;             // bf16 in a tile's row
constexpr int64_t kWidth = 32;             // columns of a panel: two tiles
constexpr int64_t kPanelRow = 4 * kWidth;  // bytes of one row of pairs, and of one row of f32 sums
constexpr int kLines = kDepth * kWidth * 2 / 64;

// Tiles 0..3 hold sums (first rows left and right, second rows left and right), 4 and 5 hold x, 6 and 7 hold weights.
template <int row_tiles>
void load_sums(const Tile& t) {
  _tile_loadd(0, t.sums, kPanelRow);
  _tile_loadd(1, t.sums + 16, kPanelRow);
  if constexpr (row_tiles == 2) {
    _tile_loadd(2, t.sums + 16 * kWidth, kPanelRow);
    _tile_loadd(3, t.sums + 16 * kWidth + 16, kPanelRow);
  }
}

void zero_sums() {
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
}

template <int row_tiles>
void store_sums(const Tile& t) {
  _tile_stored(0, t.sums, kPanelRow);
  _tile_stored(1, t.sums + 16, kPanelRow);
  if constexpr (row_tiles == 2) {
    _tile_stored(2, t.sums + 16 * kWidth, kPanelRow);
    _tile_stored(3, t.sums + 16 * kWidth + 16, kPanelRow);
  }
}

template <int row_tiles>
void tile_of(const Tile& t) {
  t.accumulate ? load_sums<row_tiles>(t) : zero_sums();
  const uint16_t* x = bits_of(t.x);
  const auto* w = static_cast<const char*>(t.w);
  const auto* ahead = static_cast<const char*>(t.prefetch);
  const int64_t x_bytes = t.x_stride * 2;
  for (int64_t k = 0; k < t.depth; k += kDepth) {
    _tile_loadd(6, w, kPanelRow);
    _tile_loadd(4, x + k, x_bytes);
    _tile_dpbf16ps(0, 4, 6);
    _tile_loadd(7, w + 64, kPanelRow);
    _tile_dpbf16ps(1, 4, 7);
    if constexpr (row_tiles == 2) {
      _tile_loadd(5, x + 16 * t.x_stride + k, x_bytes);
      _tile_dpbf16ps(2, 5, 6);
      _tile_dpbf16ps(3, 5, 7);
    }
    if (ahead) {
#pragma GCC unroll 32
      for (int line = 0; line < kLines; ++line) _mm_prefetch(ahead + line * 64, _MM_HINT_T0);
      ahead += kLines * 64;
    }
    w += kDepth / 2 * kPanelRow;
  }
  store_sums<row_tiles>(t);
}

constexpr MicroKernels make() {
  MicroKernels m{.x_type = DType::bf16,
                 .w_type = DType::bf16,
                 .width = kWidth,
                 .max_rows = 32,
                 .row_grain = 16,
                 .depth_grain = kDepth,
                 .pack_grain = 2,
                 .prefetch_lines = kLines,
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
  m.tiles[16] = tile_of<1>;
  m.tiles[32] = tile_of<2>;
  return m;
}

}  // namespace

const MicroKernels kAmxBf16x32 = make();

}  // namespace rung::cpu::gemm
