// Applies LinearEpilogue to four neighbouring columns of a token: activation, bias, residual and angles.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/linear/linear_ends.hpp"
#include "kernels/gpu/linear/quads.cuh"
#include "kernels/gpu/pointwise/activation.cuh"

namespace rung::gpu {

// The call is out of line: most layers have no activation or GELU-tanh, and each launch fetches its code again.
__device__ __noinline__ inline float4 activate4_any(Activation kind, float4 v) {
  return {activate(kind, v.x), activate(kind, v.y), activate(kind, v.z), activate(kind, v.w)};
}
__device__ inline float4 activate4(Activation kind, float4 v) {
  if (kind == Activation::none) return v;
  if (kind == Activation::gelu_tanh) return {gelu_tanh(v.x), gelu_tanh(v.y), gelu_tanh(v.z), gelu_tanh(v.w)};
  if (kind == Activation::silu) return {silu(v.x), silu(v.y), silu(v.z), silu(v.w)};
  return activate4_any(kind, v);
}

__device__ inline float4 load_bias(const LinearEpilogue& end, uint32_t column) {
  return end.bias ? load4(end.bias, end.bias_type, column) : float4{};
}
__device__ inline float4 load_residual(const LinearEpilogue& end, uint32_t token, uint32_t column) {
  return end.residual ? load4(end.residual, end.residual_type, token * end.residual_stride + column) : float4{};
}

// The cosines and sines of four columns of a head's lower half, and of their partners.
struct Angles {
  float4 cos, sin, upper_cos, upper_sin;
};
struct AngleTypes {
  DType cos, sin;
};
__device__ inline Angles load_angles(const LinearEpilogue& end, AngleTypes type, uint32_t token, uint32_t column) {
  const int64_t cos = token * end.cos_stride + column % end.half, sin = token * end.sin_stride + column % end.half;
  return {load4(end.cos, type.cos, cos), load4(end.sin, type.sin, sin),
          load4(end.cos, type.cos, cos + end.half), load4(end.sin, type.sin, sin + end.half)};
}
__device__ inline float4 rotate_lower(const Angles& by, float4 x, float4 upper) { return x * by.cos - upper * by.sin; }
__device__ inline float4 rotate_upper(const Angles& by, float4 x, float4 upper) {
  return upper * by.upper_cos + x * by.upper_sin;
}

}  // namespace rung::gpu
