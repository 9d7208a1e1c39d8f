// Micro-kernels for AVX-512: 14 x 32 (28 sums, 2 weights, 1 x of 32 registers) and 8 x 48.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/linear/tile.hpp"

namespace rung::cpu::gemm {

using namespace avx512;

const MicroKernels kAvx512F32x32 = micro_kernels<MultiplyF32, 2, 14>();
const MicroKernels kAvx512F32x48 = micro_kernels<MultiplyF32, 3, 8>();
// The widening mask takes a register, so the tile has one row less.
const MicroKernels kAvx512Bf16x32 = micro_kernels<MultiplyWidened, 2, 13>();
const MicroKernels kAvx512Bf16x48 = micro_kernels<MultiplyWidened, 3, 8>();
const MicroKernels kAvx512Int8x32 = micro_kernels<MultiplyWidenedBytes, 2, 14>();
const MicroKernels kAvx512Int8x48 = micro_kernels<MultiplyWidenedBytes, 3, 8>();

}  // namespace rung::cpu::gemm
