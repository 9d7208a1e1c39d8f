// Multiplies small matrices on any x86-64 processor.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/run/matrix/matrix.hpp"

#pragma GCC optimize("fp-contract=fast")  // the sums here are of fused products by definition

namespace rung::amdgpu::baseline {
namespace {
constexpr bool kFused = false;
}
#include "amdgpu/run/matrix/matrix_lanes.inc"
}  // namespace rung::amdgpu::baseline
