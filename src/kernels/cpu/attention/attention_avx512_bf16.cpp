// Attention on bf16 operands with AVX-512's dot product of pairs.
// SPDX-License-Identifier: Apache-2.0
#include "base/numeric.hpp"
#include "kernels/cpu/attention/attention_bf16.hpp"
#include "kernels/cpu/simd.hpp"
#include "kernels/cpu/simd_math.hpp"

namespace rung::cpu::RUNG_ISA {
namespace {

// A run's weights of a block of queries, and its values of two panels, stay in the first cache.
constexpr int64_t kKeysOfRun = 256;
constexpr int64_t kRows = 8;  // of a register tile; with two panels 16 of 32 registers are sums

void enter() {}
void leave() {}

template <int rows, int panels>
void tile(const Product& p, int64_t row, int64_t panel) {
  const uint16_t* a = p.a + row * p.a_stride;
  const uint16_t* b = p.b + panel * p.b_stride;
  const int64_t a_stride = p.a_stride, b_stride = p.b_stride, c_stride = p.c_stride;
  float* c = p.c + row * c_stride + panel * 16;
  Vec sums[rows][panels];
#pragma GCC unroll 8
  for (int i = 0; i < rows; ++i)
#pragma GCC unroll 2
    for (int j = 0; j < panels; ++j) sums[i][j] = p.adds ? load(c + i * c_stride + j * 16) : zero();
  for (int64_t k = 0; k < p.pairs; ++k, a += 2, b += 32) {
    __m512bh columns[panels];
#pragma GCC unroll 2
    for (int j = 0; j < panels; ++j) columns[j] = reinterpret_cast<__m512bh>(_mm512_loadu_si512(b + j * b_stride));
#pragma GCC unroll 8
    for (int i = 0; i < rows; ++i) {
      int pair;
      __builtin_memcpy(&pair, a + i * a_stride, sizeof pair);
      const __m512bh both = reinterpret_cast<__m512bh>(_mm512_set1_epi32(pair));
#pragma GCC unroll 2
      for (int j = 0; j < panels; ++j) sums[i][j] = _mm512_dpbf16_ps(sums[i][j], both, columns[j]);
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < rows; ++i)
#pragma GCC unroll 2
    for (int j = 0; j < panels; ++j) store(c + i * c_stride + j * 16, sums[i][j]);
}

template <int panels>
void rows_of(const Product& p, int64_t panel) {
  int64_t row = 0;
  for (; row + kRows <= p.rows; row += kRows) tile<kRows, panels>(p, row, panel);
  if ((p.rows - row) & 4) tile<4, panels>(p, row, panel), row += 4;
  if ((p.rows - row) & 2) tile<2, panels>(p, row, panel), row += 2;
  if ((p.rows - row) & 1) tile<1, panels>(p, row, panel);
}

void multiply(const Product& p) {
  int64_t panel = 0;
  for (; panel + 2 <= p.panels; panel += 2) rows_of<2>(p, panel);
  if (panel < p.panels) rows_of<1>(p, panel);
}

}  // namespace
}  // namespace rung::cpu::RUNG_ISA

#include "kernels/cpu/attention/attention_bf16.inc"
