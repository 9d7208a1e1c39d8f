// Micro-kernels for AVX2 with FMA: 4 x 24 (12 sums, 3 weights, 1 x: all 16 registers) and 6 x 16.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/linear/tile.hpp"

namespace rung::cpu::gemm {

using namespace avx2;

const MicroKernels kAvx2F32x24 = micro_kernels<MultiplyF32, 3, 4>();
const MicroKernels kAvx2F32x16 = micro_kernels<MultiplyF32, 2, 6>();
// The widening mask takes a register, so 24 columns do not fit.
const MicroKernels kAvx2Bf16x16 = micro_kernels<MultiplyWidened, 2, 6>();
const MicroKernels kAvx2Int8x16 = micro_kernels<MultiplyWidenedBytes, 2, 6>();

}  // namespace rung::cpu::gemm
