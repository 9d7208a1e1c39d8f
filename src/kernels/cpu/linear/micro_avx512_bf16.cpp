// Micro-kernels for AVX-512 BF16: the tiles of AVX-512 with pairs of bf16 multiplied and summed by one instruction.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/linear/finish.hpp"
#include "kernels/cpu/linear/tile.hpp"

namespace rung::cpu::gemm {

using namespace avx512_bf16;

#define RUNG_TILES_8(M, V)                                                                                          \
  nullptr, tile<M, 1, V>, tile<M, 2, V>, tile<M, 3, V>, tile<M, 4, V>, tile<M, 5, V>, tile<M, 6, V>, tile<M, 7, V>, \
      tile<M, 8, V>
#define RUNG_TILES_13(M, V) \
  RUNG_TILES_8(M, V), tile<M, 9, V>, tile<M, 10, V>, tile<M, 11, V>, tile<M, 12, V>, tile<M, 13, V>
#define RUNG_TILES_14(M, V) RUNG_TILES_13(M, V), tile<M, 14, V>

// clang-format off
const MicroKernels kAvx512DotBf16x32 = {DType::bf16, DType::bf16, 32, 14, 1, 2, 2, 1, {RUNG_TILES_14(MultiplyPairs, 2)}, finish, copy_rows, nullptr, nullptr};
const MicroKernels kAvx512DotBf16x48 = {DType::bf16, DType::bf16, 48, 8, 1, 2, 2, 1, {RUNG_TILES_8(MultiplyPairs, 3)}, finish, copy_rows, nullptr, nullptr};
// clang-format on

}  // namespace rung::cpu::gemm
