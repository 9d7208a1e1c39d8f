// Ends a convolution's results: one at a time, or eight neighbouring channels together.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/elements.cuh"
#include "kernels/gpu/pointwise/activation.cuh"
#include "kernels/gpu/windows/conv_end.hpp"

namespace rung::gpu {

// Stores the result `index`, of channel `channel`.
__device__ inline void finish(const ConvEnd& end, int64_t index, uint32_t channel, float y) {
  if (end.factors) y *= load_as<float>(end.factors, end.bias_type, channel * end.bias_stride);
  if (end.bias) y += load_as<float>(end.bias, end.bias_type, channel * end.bias_stride);
  y = activate(end.activation, y);
  if (end.residual) y = activate(end.last, y + load_as<float>(end.residual, end.residual_type, index));
  store_as<float>(end.out, end.out_type, index, y);
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
    for (float& each : y) each = activate(end.activation, each);
  if (end.residual) {
    unpack(load_vector(end.residual, end.residual_type, index), end.residual_type, other);
#pragma unroll
    for (int i = 0; i < kVector; ++i) y[i] = activate(end.last, y[i] + other[i]);
  }
  store_vector(end.out, end.out_type, index, y);
}

}  // namespace rung::gpu
