// matmul by rocBLAS.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/linear/matmul_library.hpp"

namespace rung::gpu {

extern const Kernel matmul_rocblas;
constexpr Kernel matmul_rocblas = matmul_by_library<kRocblas>("matmul_rocblas");

}  // namespace rung::gpu
