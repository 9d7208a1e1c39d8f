// Compiles the code for lanes of vector comparisons for AVX2 and FMA.
// SPDX-License-Identifier: Apache-2.0
#define RUNG_LANES avx2
#include "amdgpu/run/alu/convert_lanes.hpp"

namespace rung::amdgpu::avx2 {

std::span<const LaneRow> compare_rows() {
  static const LaneRow kRows[] = {
#include "amdgpu/run/alu/compare.inc"
  };
  return kRows;
}

}  // namespace rung::amdgpu::avx2
