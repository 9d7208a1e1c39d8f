// linear by hipBLASLt.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/linear/linear_library.hpp"

namespace rung::gpu {

extern const Kernel linear_hipblaslt;
constexpr Kernel linear_hipblaslt = linear_by_library<kHipblaslt>("linear_hipblaslt");

}  // namespace rung::gpu
