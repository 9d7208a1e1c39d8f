// A vector register: 32 bits for each lane of a wave.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "amdgpu/isa/isa.hpp"

namespace rung::amdgpu {

struct alignas(64) Lanes {
  uint32_t at[kWaveLanes];
};

}  // namespace rung::amdgpu
