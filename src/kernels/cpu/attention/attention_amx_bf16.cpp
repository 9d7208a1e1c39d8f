// Attention on bf16 operands with AMX tiles.
// SPDX-License-Identifier: Apache-2.0
#include "base/numeric.hpp"
#include "kernels/cpu/amx_tiles.hpp"
#include "kernels/cpu/attention/attention_bf16.hpp"
#include "kernels/cpu/simd.hpp"
#include "kernels/cpu/simd_math.hpp"

namespace rung::cpu::RUNG_ISA {
namespace {

constexpr int64_t kKeysOfRun = INT64_MAX;  // all at once: products never add to sums

// Computes sums of 16 or 32 rows and one or two panels. Tiles 0..3 hold sums (first rows left and right, second rows
// left and right), 4 and 5 hold a, 6 and 7 hold b. The scratch behind a and c has whole tiles of rows.
template <int row_tiles, int panels>
void tile(const Product& p, int64_t row, int64_t panel) {
  const uint16_t* a = p.a + row * p.a_stride;
  const uint16_t* b = p.b + panel * p.b_stride;
  const int64_t a_bytes = p.a_stride * 2, c_bytes = p.c_stride * 4;
  _tile_zero(0);
  if constexpr (panels == 2) _tile_zero(1);
  if constexpr (row_tiles == 2) _tile_zero(2);
  if constexpr (row_tiles == 2 && panels == 2) _tile_zero(3);
  for (int64_t k = 0; k < p.pairs; k += 16, a += 32, b += 16 * 32) {
    _tile_loadd(4, a, a_bytes);
    _tile_loadd(6, b, 64);
    _tile_dpbf16ps(0, 4, 6);
    if constexpr (panels == 2) {
      _tile_loadd(7, b + p.b_stride, 64);
      _tile_dpbf16ps(1, 4, 7);
    }
    if constexpr (row_tiles == 2) {
      _tile_loadd(5, a + 16 * p.a_stride, a_bytes);
      _tile_dpbf16ps(2, 5, 6);
      if constexpr (panels == 2) _tile_dpbf16ps(3, 5, 7);
    }
  }
  float* c = p.c + row * p.c_stride + panel * 16;
  _tile_stored(0, c, c_bytes);
  if constexpr (panels == 2) _tile_stored(1, c + 16, c_bytes);
  if constexpr (row_tiles == 2) _tile_stored(2, c + 16 * p.c_stride, c_bytes);
  if constexpr (row_tiles == 2 && panels == 2) _tile_stored(3, c + 16 * p.c_stride + 16, c_bytes);
}

template <int panels>
void rows_of(const Product& p, int64_t panel) {
  for (int64_t row = 0; row < p.rows; row += 32)
    p.rows - row > 16 ? tile<2, panels>(p, row, panel) : tile<1, panels>(p, row, panel);
}

// The tile intrinsics do not tell the compiler which memory they read and write; the two fences do.
void multiply(const Product& p) {
  asm volatile("" ::: "memory");
  int64_t panel = 0;
  for (; panel + 2 <= p.panels; panel += 2) rows_of<2>(p, panel);
  if (panel < p.panels) rows_of<1>(p, panel);
  asm volatile("" ::: "memory");
}

}  // namespace
}  // namespace rung::cpu::RUNG_ISA

#include "kernels/cpu/attention/attention_bf16.inc"
