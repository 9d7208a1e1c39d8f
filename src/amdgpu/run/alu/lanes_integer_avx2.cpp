// Compiles the code for lanes of vector instructions on integers and bits for AVX2 and FMA.
// SPDX-License-Identifier: Apache-2.0
#define RUNG_LANES avx2
#include "amdgpu/run/alu/convert_lanes.hpp"

namespace rung::amdgpu::avx2 {

std::span<const LaneRow> integer_rows() {
  static const LaneRow kRows[] = {
#include "amdgpu/run/alu/integer.inc"
#include "amdgpu/run/alu/short.inc"
  };
  return kRows;
}

}  // namespace rung::amdgpu::avx2
