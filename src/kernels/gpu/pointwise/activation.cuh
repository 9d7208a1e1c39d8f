// The activations of rung::Activation on one f32 value, by the formulas of the reference evaluator.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/op_kinds.hpp"
#include "kernels/gpu/portable.cuh"

namespace rung::gpu {

__device__ inline float gelu_erf(float x) { return 0.5f * x * (1.0f + erff(x * 0.70710678118654752f)); }
// Returns x sigmoid(2 u) = 0.5 x (1 + tanh(u)), where u = sqrt(2/pi) (x + 0.044715 x^3).
__device__ inline float gelu_tanh(float x) {
  float u = 0.79788456080286536f * (x + 0.044715f * x * x * x);
  return fast_divide(x, 1.0f + fast_exp(-2.0f * u));
}
__device__ inline float silu(float x) { return fast_divide(x, 1.0f + fast_exp(-x)); }

__device__ inline float activate(Activation kind, float x) {
  switch (kind) {
    case Activation::none: return x;
    case Activation::relu: return fmaxf(x, 0.0f);
    case Activation::gelu: return gelu_erf(x);
    case Activation::gelu_tanh: return gelu_tanh(x);
    case Activation::silu: return silu(x);
    case Activation::tanh: return tanhf(x);
  }
  return x;
}

}  // namespace rung::gpu
