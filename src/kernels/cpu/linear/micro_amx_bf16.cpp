// Micro-kernel for AMX: bf16.
// SPDX-License-Identifier: Apache-2.0
#define RUNG_TILE_PRODUCT(sums, x, w) _tile_dpbf16ps(sums, x, w)
#include "kernels/cpu/linear/amx.hpp"

namespace rung::cpu::gemm {

const MicroKernels kAmxBf16x32 = amx_bf16::amx_kernels<uint16_t>(DType::bf16);

}  // namespace rung::cpu::gemm
