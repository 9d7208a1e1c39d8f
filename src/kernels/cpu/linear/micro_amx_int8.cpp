// Micro-kernel for AMX: i8 by i8, summed into i32.
// SPDX-License-Identifier: Apache-2.0
#define RUNG_TILE_PRODUCT(sums, x, w) _tile_dpbssd(sums, x, w)
#include "kernels/cpu/linear/amx.hpp"

namespace rung::cpu::gemm {

const MicroKernels kAmxInt8x32 = amx_int8::amx_kernels<int8_t>(DType::i8);

}  // namespace rung::cpu::gemm
