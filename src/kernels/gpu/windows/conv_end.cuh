// Ends a convolution's results: one at a time, or two or eight neighbouring channels together.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/elements.cuh"
#include "kernels/gpu/pointwise/activation.cuh"
#include "kernels/gpu/windows/conv_end.hpp"

namespace rung::gpu {

// The activations that convolutions rarely have are out of line: they are long, and each launch fetches its code again.
__device__ __noinline__ float activate_rarely(Activation kind, float x) { return activate(kind, x); }

// Activates results that share their activation, which is asked for once.
template <int n>
__device__ inline void activate_all(Activation kind, float (&y)[n]) {
  if (kind == Activation::none) return;
  if (kind == Activation::relu) {
#pragma unroll
    for (float& each : y) each = activate(Activation::relu, each);
  } else if (kind == Activation::silu) {
#pragma unroll
    for (float& each : y) each = activate(Activation::silu, each);
  } else {
#pragma unroll
    for (float& each : y) each = activate_rarely(kind, each);
  }
}

// A NaN stays.
template <int n>
__device__ inline void apply_tail(const ConvEnd& end, float (&y)[n]) {
  if (!end.has_tail) return;
#pragma unroll
  for (float& each : y) {
    float line = fmaf(end.tail.slope, each, end.tail.shift);
    line = line < end.tail.low ? end.tail.low : line > end.tail.high ? end.tail.high : line;
    each = end.tail.times_x ? line * each : line;
  }
}

// Ends results that have their factors and bias; `residual` adds the residual, if there is one.
template <int n, class Residual>
__device__ inline void end_results(const ConvEnd& end, float (&y)[n], Residual residual) {
  activate_all(end.activation, y);
  if (end.residual) {
    residual();
    activate_all(end.last, y);
  }
  apply_tail(end, y);
}

// Stores the result `index`, of channel `channel`.
__device__ inline void finish(const ConvEnd& end, int64_t index, uint32_t channel, float y) {
  float results[] = {y};
  if (end.factors) results[0] *= load_as<float>(end.factors, end.bias_type, channel * end.bias_stride);
  if (end.bias) results[0] += load_as<float>(end.bias, end.bias_type, channel * end.bias_stride);
  end_results(end, results, [&] { results[0] += load_as<float>(end.residual, end.residual_type, index); });
  store_as<float>(end.out, end.out_type, index, results[0]);
}

// ---- pairs of neighbouring channels

__device__ inline float2 load_pair(uint64_t base, DType type, int64_t at) {
  if (type == DType::f32) return element<const float2>(base, at / 2);
  float pair[2];
  unpack_pair(element<const uint32_t>(base, at / 2), type, pair);
  return {pair[0], pair[1]};
}
__device__ inline void store_pair(const ConvEnd& end, int64_t at, float low, float high) {
  if (end.out_type == DType::f32)
    element<float2>(end.out, at / 2) = {low, high};
  else
    element<uint32_t>(end.out, at / 2) = end.out_type == DType::bf16 ? pack<bf16>(low, high) : pack<f16>(low, high);
}

// The results of two channels from `channel` on, at `count` places: `index` is the first one's, and `step` leads to the
// next place. All but the count are even.
struct ConvPairs {
  int64_t index, step;
  uint32_t count, channel;
};

// Stores the results of the first of `run` places; the bias is dense.
template <int run>
__device__ inline void finish(const ConvEnd& end, const ConvPairs& at, const float2 (&sums)[run]) {
  float2 factors{1, 1}, bias{0, 0};
  if (end.factors) factors = load_pair(end.factors, end.bias_type, at.channel);
  if (end.bias) bias = load_pair(end.bias, end.bias_type, at.channel);
  float y[2 * run];
#pragma unroll
  for (int i = 0; i < run; ++i)
    y[2 * i] = fmaf(sums[i].x, factors.x, bias.x), y[2 * i + 1] = fmaf(sums[i].y, factors.y, bias.y);
  end_results(end, y, [&] {
#pragma unroll
    for (uint32_t i = 0; i < run; ++i) {
      if (i >= at.count) continue;
      const float2 more = load_pair(end.residual, end.residual_type, at.index + i * at.step);
      y[2 * i] += more.x, y[2 * i + 1] += more.y;
    }
  });
#pragma unroll
  for (uint32_t i = 0; i < run; ++i)
    if (i < at.count) store_pair(end, at.index + i * at.step, y[2 * i], y[2 * i + 1]);
}

// ---- vectors

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
  end_results(end, y, [&] {
    unpack(load_vector(end.residual, end.residual_type, index), end.residual_type, other);
#pragma unroll
    for (int i = 0; i < kVector; ++i) y[i] += other[i];
  });
  store_vector(end.out, end.out_type, index, y);
}

}  // namespace rung::gpu
