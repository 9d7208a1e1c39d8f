// Loads and stores four neighbouring elements as f32; their type is known at run time or at compile time.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <type_traits>

#include "kernels/gpu/elements.cuh"

namespace rung::gpu {

__device__ inline float4 operator+(float4 a, float4 b) { return {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w}; }
__device__ inline float4 operator-(float4 a, float4 b) { return {a.x - b.x, a.y - b.y, a.z - b.z, a.w - b.w}; }
__device__ inline float4 operator*(float4 a, float4 b) { return {a.x * b.x, a.y * b.y, a.z * b.z, a.w * b.w}; }
__device__ inline float4 operator*(float4 a, float b) { return {a.x * b, a.y * b, a.z * b, a.w * b}; }
__device__ inline float sum_of(float4 v) { return (v.x + v.y) + (v.z + v.w); }

// The bits of four neighbours in memory, aligned to their size.
template <class V>
using Four = std::conditional_t<sizeof(V) == 4, uint4, uint2>;
template <class V>
__device__ inline float4 widen(const Four<V>& x) {
  if constexpr (sizeof(V) == 4) {
    return {as_float(x.x), as_float(x.y), as_float(x.z), as_float(x.w)};
  } else {
    const float2 low = unpack<V>(x.x), high = unpack<V>(x.y);
    return {low.x, low.y, high.x, high.y};
  }
}
template <class V>
__device__ inline float4 load4(const V* from) {
  return widen<V>(*reinterpret_cast<const Four<V>*>(from));
}
template <class V>
__device__ inline void store4(V* to, float4 v) {
  if constexpr (sizeof(V) == 4)
    *reinterpret_cast<float4*>(to) = v;
  else
    *reinterpret_cast<uint2*>(to) = {pack<V>(v.x, v.y), pack<V>(v.z, v.w)};
}

// The overloads below take a type that is known only at run time.
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
