// Compiles the conversions of FP8, BF8, FP6, BF6 and FP4 as plain code for lanes, as they are rare.
// SPDX-License-Identifier: Apache-2.0
#define RUNG_LANES float8
#include "amdgpu/run/alu/float8_lanes.hpp"

namespace rung::amdgpu::float8 {

std::span<const LaneRow> float8_rows() {
  static const LaneRow kRows[] = {
#include "amdgpu/run/alu/float8.inc"
  };
  return kRows;
}

}  // namespace rung::amdgpu::float8
