// GELU of f32 sums whose results have 16 bits.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/portable.cuh"

namespace rung::gpu {

// Returns x times the normal distribution's integral up to x. The tail beyond |x| is a polynomial in t, times
// e^(-x^2 / 2) (Abramowitz and Stegun, 7.1.26). The error is below 5e-7, and below 4e-3 of every result down to x = -6,
// where 1 + erf(x / sqrt(2)) has no digits left in f32; unlike erff it has no branch.
__device__ inline float narrow_gelu(float x) {
  const float t = fast_inverse(fmaf(fabsf(x), 0.23164189f, 1.0f));
  float tail = fmaf(t, 0.53070271f, -0.72657601f);
  tail = fmaf(t, tail, 0.71070687f);
  tail = fmaf(t, tail, -0.14224836f);
  tail = fmaf(t, tail, 0.12741479f);
  tail *= t * fast_exp2(x * x * -0.72134752f);
  return x * (x < 0 ? tail : 1.0f - tail);
}

}  // namespace rung::gpu
