// matmul by cuBLASLt.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/linear/matmul_library.hpp"

namespace rung::gpu {

extern const Kernel matmul_cublaslt;
constexpr Kernel matmul_cublaslt = matmul_by_library<kCublaslt>("matmul_cublaslt");

}  // namespace rung::gpu
