// linear by rocBLAS.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/linear/linear_library.hpp"

namespace rung::gpu {

extern const Kernel linear_rocblas;
constexpr Kernel linear_rocblas = linear_by_library<kRocblas>("linear_rocblas");

}  // namespace rung::gpu
