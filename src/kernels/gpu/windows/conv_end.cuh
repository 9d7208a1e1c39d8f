// Ends a convolution's results: one at a time, or two or eight neighbouring channels together.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/elements.cuh"
#include "kernels/gpu/pointwise/activation.cuh"
#include "kernels/gpu/windows/conv_end.hpp"

namespace rung::gpu {

// The activations that convolutions rarely have are out of line: they are long, and each launch fetches its code again.
__device__ __noinline__ float activate_rarely(Activation kind, float x) { return activate(kind, x); }
__device__ inline float activate_end(Activation kind, float x) {
  if (kind == Activation::none) return x;
  if (kind == Activation::relu) return activate(Activation::relu, x);
  if (kind == Activation::silu) return activate(Activation::silu, x);
  return activate_rarely(kind, x);
}

// A NaN stays.
__device__ inline float apply_tail(const ConvEnd& end, float x) {
  if (!end.has_tail) return x;
  float line = fmaf(end.tail.slope, x, end.tail.shift);
  line = line < end.tail.low ? end.tail.low : line > end.tail.high ? end.tail.high : line;
  return end.tail.times_x ? line * x : line;
}

// Stores the result `index`, of channel `channel`.
__device__ inline void finish(const ConvEnd& end, int64_t index, uint32_t channel, float y) {
  if (end.factors) y *= load_as<float>(end.factors, end.bias_type, channel * end.bias_stride);
  if (end.bias) y += load_as<float>(end.bias, end.bias_type, channel * end.bias_stride);
  y = activate_end(end.activation, y);
  if (end.residual) y = activate_end(end.last, y + load_as<float>(end.residual, end.residual_type, index));
  store_as<float>(end.out, end.out_type, index, apply_tail(end, y));
}

__device__ inline float2 load_pair(uint64_t base, DType type, int64_t at) {
  if (type == DType::f32) return element<const float2>(base, at / 2);
  float pair[2];
  unpack_pair(element<const uint32_t>(base, at / 2), type, pair);
  return {pair[0], pair[1]};
}

// Stores the results from `index` on, of two channels from `channel` on; both are even, and the bias is dense.
__device__ inline void finish(const ConvEnd& end, int64_t index, uint32_t channel, float2 y) {
  if (end.factors) {
    const float2 factors = load_pair(end.factors, end.bias_type, channel);
    y.x *= factors.x, y.y *= factors.y;
  }
  if (end.bias) {
    const float2 bias = load_pair(end.bias, end.bias_type, channel);
    y.x += bias.x, y.y += bias.y;
  }
  y.x = activate_end(end.activation, y.x), y.y = activate_end(end.activation, y.y);
  if (end.residual) {
    const float2 residual = load_pair(end.residual, end.residual_type, index);
    y.x = activate_end(end.last, y.x + residual.x), y.y = activate_end(end.last, y.y + residual.y);
  }
  y.x = apply_tail(end, y.x), y.y = apply_tail(end, y.y);
  if (end.out_type == DType::f32)
    element<float2>(end.out, index / 2) = y;
  else
    element<uint32_t>(end.out, index / 2) = end.out_type == DType::bf16 ? pack<bf16>(y.x, y.y) : pack<f16>(y.x, y.y);
}

// Stores the results from `index` on, of channels from `channel` on; both are multiples of 8, and the bias is dense.
__device__ inline void finish(const ConvEnd& end, int64_t index, uint32_t channel, float (&y)[kVector]) {
  float other[kVector];
  if (end.factors) {
    unpack(load_vector(end.factors, end.bias_type, channel), end.bias_type, other);
#pragma unroll
    for (int i = 0; i < kVector; ++i) y[i] *= other[i];
  }
  if (end.bias) {
    unpack(load_vector(end.bias, end.bias_type, channel), end.bias_type, other);
#pragma unroll
    for (int i = 0; i < kVector; ++i) y[i] += other[i];
  }
  if (end.activation != Activation::none)
#pragma unroll
    for (float& each : y) each = activate_end(end.activation, each);
  if (end.residual) {
    unpack(load_vector(end.residual, end.residual_type, index), end.residual_type, other);
#pragma unroll
    for (int i = 0; i < kVector; ++i) y[i] = activate_end(end.last, y[i] + other[i]);
  }
#pragma unroll
  for (float& each : y) each = apply_tail(end, each);
  store_vector(end.out, end.out_type, index, y);
}

}  // namespace rung::gpu
