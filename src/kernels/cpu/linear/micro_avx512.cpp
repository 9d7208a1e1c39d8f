// Micro-kernels for AVX-512: 14 x 32 (28 sums, 2 weights, 1 x of 32 registers) and 8 x 48.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/linear/finish.hpp"
#include "kernels/cpu/linear/tile.hpp"

namespace rung::cpu::gemm {

using namespace avx512;

#define RUNG_TILES_8(M, V)                                                                                          \
  nullptr, tile<M, 1, V>, tile<M, 2, V>, tile<M, 3, V>, tile<M, 4, V>, tile<M, 5, V>, tile<M, 6, V>, tile<M, 7, V>, \
      tile<M, 8, V>
#define RUNG_TILES_13(M, V) \
  RUNG_TILES_8(M, V), tile<M, 9, V>, tile<M, 10, V>, tile<M, 11, V>, tile<M, 12, V>, tile<M, 13, V>
#define RUNG_TILES_14(M, V) RUNG_TILES_13(M, V), tile<M, 14, V>

// clang-format off
const MicroKernels kAvx512F32x32 = {DType::f32, DType::f32, 32, 14, 1, 1, 1, 1, {RUNG_TILES_14(MultiplyF32, 2)}, finish, copy_rows, nullptr, nullptr};
const MicroKernels kAvx512F32x48 = {DType::f32, DType::f32, 48, 8, 1, 1, 1, 1, {RUNG_TILES_8(MultiplyF32, 3)}, finish, copy_rows, nullptr, nullptr};
// One register holds the mask that widens, so one row less.
const MicroKernels kAvx512Bf16x32 = {DType::f32, DType::bf16, 32, 13, 1, 2, 2, 1, {RUNG_TILES_13(MultiplyWidened, 2)}, finish, copy_rows, nullptr, nullptr};
const MicroKernels kAvx512Bf16x48 = {DType::f32, DType::bf16, 48, 8, 1, 2, 2, 1, {RUNG_TILES_8(MultiplyWidened, 3)}, finish, copy_rows, nullptr, nullptr};
// clang-format on

}  // namespace rung::cpu::gemm
