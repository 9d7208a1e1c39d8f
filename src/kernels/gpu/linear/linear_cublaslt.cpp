// linear by cuBLASLt.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/linear/linear_library.hpp"

namespace rung::gpu {

extern const Kernel linear_cublaslt;
constexpr Kernel linear_cublaslt = linear_by_library<kCublaslt>("linear_cublaslt");

}  // namespace rung::gpu
