// Loads of floats that are converted later.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/elements.cuh"

namespace rung::gpu {

// A float of a type known only at run time, as it is in memory. A conversion in the branch that loads would wait there:
// so several are loaded before the first is converted.
struct FloatBits {
  uint32_t bits = 0;
  __device__ float value(DType type) const {
    if (type == DType::f32) return as_float(bits);
    float both[2];
    unpack_pair(bits, type, both);
    return both[0];
  }
};
__device__ inline FloatBits load_bits(uint64_t base, DType type, int64_t at) {
  return {type == DType::f32 ? element<const uint32_t>(base, at) : element<const uint16_t>(base, at)};
}

}  // namespace rung::gpu
