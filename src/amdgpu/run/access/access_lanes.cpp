// Chooses the compiled loops over lanes that this processor runs.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/run/access/access_lanes.hpp"

namespace rung::amdgpu {

const AccessLanes& access_lanes() {
  static const bool fast = __builtin_cpu_supports("avx2");
  return fast ? avx2::kAccessLanes : baseline::kAccessLanes;
}

}  // namespace rung::amdgpu
