// Multiplies small matrices with avx2.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/run/matrix/matrix.hpp"

#pragma GCC optimize("fp-contract=fast")  // the sums here are of fused products by definition

namespace rung::amdgpu::avx2 {
namespace {
constexpr bool kFused = true;
}
#include "amdgpu/run/matrix/matrix_lanes.inc"
}  // namespace rung::amdgpu::avx2
