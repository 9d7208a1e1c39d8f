// Micro-kernels for AVX-512 VNNI: the tiles of AVX-512 with four bytes multiplied and summed by one instruction.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/linear/tile.hpp"

namespace rung::cpu::gemm {

using namespace avx512_vnni;

const MicroKernels kAvx512DotInt8x32 = micro_kernels<MultiplyBytes, 2, 14>();
const MicroKernels kAvx512DotInt8x48 = micro_kernels<MultiplyBytes, 3, 8>();

}  // namespace rung::cpu::gemm
