// Micro-kernels of weights in groups for AVX2 with FMA.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/linear/grouped_floats.inc"

namespace rung::cpu::gemm {

const GroupedKernels kGroupedAvx2 = avx2::grouped_kernels();

}  // namespace rung::cpu::gemm
