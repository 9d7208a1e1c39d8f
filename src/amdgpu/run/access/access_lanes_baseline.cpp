// Compiles the loops over the lanes of an access for any processor.
// SPDX-License-Identifier: Apache-2.0
#include <xmmintrin.h>

#include <cstring>

#include "amdgpu/run/access/access_lanes.hpp"

namespace rung::amdgpu::baseline {
#include "amdgpu/run/access/access_lanes.inc"
}  // namespace rung::amdgpu::baseline
