// The activations of rung::Activation on one f32 value, by the formulas of the reference evaluator.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/portable.cuh"

namespace rung::gpu {

__device__ inline float gelu_erf(float x) { return 0.5f * x * (1.0f + erff(x * 0.70710678118654752f)); }
// x sigmoid(2 u) = 0.5 x (1 + tanh(u)), u = sqrt(2/pi) (x + 0.044715 x^3)
__device__ inline float gelu_tanh(float x) {
  float u = 0.79788456080286536f * (x + 0.044715f * x * x * x);
  return fast_divide(x, 1.0f + fast_exp(-2.0f * u));
}
__device__ inline float silu(float x) { return fast_divide(x, 1.0f + fast_exp(-x)); }

// `kind` is rung::Activation: none, relu, gelu, gelu_tanh, silu, tanh.
__device__ inline float activate(int32_t kind, float x) {
  switch (kind) {
    case 1: return fmaxf(x, 0.0f);
    case 2: return gelu_erf(x);
    case 3: return gelu_tanh(x);
    case 4: return silu(x);
    case 5: return tanhf(x);
    default: return x;
  }
}

}  // namespace rung::gpu
