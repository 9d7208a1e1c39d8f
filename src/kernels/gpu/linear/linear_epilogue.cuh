// What linear layers do to four neighbouring results: residual, activation, and the store.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <type_traits>

#include "kernels/gpu/pointwise/activation.cuh"
#include "kernels/gpu/portable.cuh"

namespace rung::gpu {

// Four neighbours in memory, aligned to them.
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
__device__ inline float4 operator+(float4 a, float4 b) { return {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w}; }
__device__ inline float4 operator-(float4 a, float4 b) { return {a.x - b.x, a.y - b.y, a.z - b.z, a.w - b.w}; }
__device__ inline float4 operator*(float4 a, float4 b) { return {a.x * b.x, a.y * b.y, a.z * b.z, a.w * b.w}; }

// Out of line: code is fetched again by each launch, and most layers have no activation.
__device__ __noinline__ inline float4 activate4(int32_t kind, float4 v) {
  if (kind == 3) return {gelu_tanh(v.x), gelu_tanh(v.y), gelu_tanh(v.z), gelu_tanh(v.w)};
  return {activate(kind, v.x), activate(kind, v.y), activate(kind, v.z), activate(kind, v.w)};
}

}  // namespace rung::gpu
