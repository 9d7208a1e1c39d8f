// matmul by hipBLASLt.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/linear/matmul_library.hpp"

namespace rung::gpu {

extern const Kernel matmul_hipblaslt;
constexpr Kernel matmul_hipblaslt = matmul_by_library<kHipblaslt>("matmul_hipblaslt");

}  // namespace rung::gpu
