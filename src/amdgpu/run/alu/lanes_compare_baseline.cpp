// Compiles the code for lanes of vector comparisons for any processor.
// SPDX-License-Identifier: Apache-2.0
#define RUNG_LANES baseline
#include "amdgpu/run/alu/convert_lanes.hpp"

namespace rung::amdgpu::baseline {

std::span<const LaneRow> compare_rows() {
  static const LaneRow kRows[] = {
#include "amdgpu/run/alu/compare.inc"
  };
  return kRows;
}

}  // namespace rung::amdgpu::baseline
