// Micro-kernels for AVX2 with FMA: 4 x 24 (12 sums, 3 weights, 1 x: all 16 registers) and 6 x 16.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/linear/finish.hpp"
#include "kernels/cpu/linear/tile.hpp"

namespace rung::cpu::gemm {

using namespace avx2;

#define RUNG_TILES_4(M, V) nullptr, tile<M, 1, V>, tile<M, 2, V>, tile<M, 3, V>, tile<M, 4, V>
#define RUNG_TILES_6(M, V) RUNG_TILES_4(M, V), tile<M, 5, V>, tile<M, 6, V>

// clang-format off
const MicroKernels kAvx2F32x24 = {DType::f32, DType::f32, 24, 4, 1, 1, 1, 1, {RUNG_TILES_4(MultiplyF32, 3)}, finish, copy_rows, nullptr, nullptr};
const MicroKernels kAvx2F32x16 = {DType::f32, DType::f32, 16, 6, 1, 1, 1, 1, {RUNG_TILES_6(MultiplyF32, 2)}, finish, copy_rows, nullptr, nullptr};
// The mask that widens takes a register, so 24 columns do not fit.
const MicroKernels kAvx2Bf16x16 = {DType::f32, DType::bf16, 16, 6, 1, 2, 2, 1, {RUNG_TILES_6(MultiplyWidened, 2)}, finish, copy_rows, nullptr, nullptr};
// clang-format on

}  // namespace rung::cpu::gemm
