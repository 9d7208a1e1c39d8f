// Micro-kernels of weights in groups for AVX-512.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/linear/grouped_floats.inc"

namespace rung::cpu::gemm {

const GroupedKernels kGroupedAvx512 = avx512::grouped_kernels();

}  // namespace rung::cpu::gemm
