// DPP's map of lanes: the lane that each lane reads from, and the lanes that are written.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>

#include "amdgpu/isa/instruction.hpp"
#include "amdgpu/isa/isa.hpp"

namespace rung::amdgpu {

struct LaneMap {
  std::array<uint8_t, kWaveLanes> from{};
  uint64_t valid = 0;  // lanes whose source exists and is active; others read 0
  uint64_t read = 0;   // the lanes that written lanes read from
  uint64_t write = 0;
};

// Lanes outside of the row or bank masks are not written, nor are those without a source unless bound_ctrl is set.
LaneMap lane_map(const Dpp& dpp, uint64_t exec);
// Returns the lane that `lane` reads from by this control; -1: there is none.
int source_lane(uint16_t control, int lane);

}  // namespace rung::amdgpu
