// Four neighbouring elements of a type known only at run time, as f32.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/elements.cuh"

namespace rung::gpu {

__device__ inline float4 operator+(float4 a, float4 b) { return {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w}; }

// Of 4 neighbours, aligned to them.
__device__ inline float4 load4(uint64_t base, DType type, int64_t at) {
  if (type == DType::f32) return element<const float4>(base, at / 4);
  const uint2 words = element<const uint2>(base, at / 4);
  float v[4];
  unpack_pair(words.x, type, v), unpack_pair(words.y, type, v + 2);
  return {v[0], v[1], v[2], v[3]};
}
__device__ inline void store4(uint64_t base, DType type, int64_t at, float4 v) {
  if (type == DType::f32)
    element<float4>(base, at / 4) = v;
  else if (type == DType::bf16)
    element<uint2>(base, at / 4) = make_uint2(pack<bf16>(v.x, v.y), pack<bf16>(v.z, v.w));
  else
    element<uint2>(base, at / 4) = make_uint2(pack<f16>(v.x, v.y), pack<f16>(v.z, v.w));
}

}  // namespace rung::gpu
