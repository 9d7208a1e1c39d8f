// Floats of 8 bits on NVIDIA's machines: OCP's formats, converted two at a time from compute capability 8.9 on.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/vendor/software_f8.cuh"

namespace rung::gpu {

inline constexpr bool kFnuz = false;

#if __CUDA_ARCH__ >= 890

// Returns a pair of 8-bit floats, with `first` in the lower byte.
template <class F>
__device__ inline uint32_t f8_pair(float first, float second);
template <>
__device__ inline uint32_t f8_pair<f8e4m3>(float first, float second) {
  uint16_t both;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(both) : "f"(second), "f"(first));
  return both;
}
template <>
__device__ inline uint32_t f8_pair<f8e5m2>(float first, float second) {
  uint16_t both;
  asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(both) : "f"(second), "f"(first));
  return both;
}
// Converts a pair of 8-bit floats to f16, which has all of their values.
template <class F>
__device__ inline uint32_t halves_of_f8(uint16_t pair);
template <>
__device__ inline uint32_t halves_of_f8<f8e4m3>(uint16_t pair) {
  uint32_t halves;
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"(pair));
  return halves;
}
template <>
__device__ inline uint32_t halves_of_f8<f8e5m2>(uint16_t pair) {
  uint32_t halves;
  asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(halves) : "h"(pair));
  return halves;
}

template <class F>
__device__ inline uint32_t pack_4(float4 x) {
  return f8_pair<F>(x.x, x.y) | f8_pair<F>(x.z, x.w) << 16;
}
template <class F>
__device__ inline float4 unpack_4(uint32_t codes) {
  const float2 low = unpack<f16>(halves_of_f8<F>(static_cast<uint16_t>(codes)));
  const float2 high = unpack<f16>(halves_of_f8<F>(static_cast<uint16_t>(codes >> 16)));
  return make_float4(low.x, low.y, high.x, high.y);
}

#else

template <class F>
__device__ inline uint32_t pack_4(float4 x) {
  return software_pack_4<F>(x);
}
template <class F>
__device__ inline float4 unpack_4(uint32_t codes) {
  return software_unpack_4<F>(codes);
}

#endif

}  // namespace rung::gpu
