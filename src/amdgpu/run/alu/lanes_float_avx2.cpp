// Compiles the code for lanes of vector instructions on floats and conversions for AVX2 and FMA.
// SPDX-License-Identifier: Apache-2.0
#define RUNG_LANES avx2
#include "amdgpu/run/alu/convert_lanes.hpp"

namespace rung::amdgpu::avx2 {

std::span<const LaneRow> float_rows() {
  static const LaneRow kRows[] = {
#include "amdgpu/run/alu/convert.inc"
#include "amdgpu/run/alu/double.inc"
#include "amdgpu/run/alu/float.inc"
#include "amdgpu/run/alu/half.inc"
  };
  return kRows;
}

}  // namespace rung::amdgpu::avx2
