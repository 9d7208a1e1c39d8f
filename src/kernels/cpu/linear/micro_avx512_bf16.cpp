// Micro-kernels for AVX-512 BF16: the tiles of AVX-512 with pairs of bf16 multiplied and summed by one instruction.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/linear/tile.hpp"

namespace rung::cpu::gemm {

using namespace avx512_bf16;

const MicroKernels kAvx512DotBf16x32 = micro_kernels<MultiplyPairs, 2, 14>();
const MicroKernels kAvx512DotBf16x48 = micro_kernels<MultiplyPairs, 3, 8>();

}  // namespace rung::cpu::gemm
