// Compiles the loops over the lanes of an access with avx2.
// SPDX-License-Identifier: Apache-2.0
#include <xmmintrin.h>

#include <cstring>

#include "amdgpu/run/access/access_lanes.hpp"

namespace rung::amdgpu::avx2 {
#include "amdgpu/run/access/access_lanes.inc"
}  // namespace rung::amdgpu::avx2
