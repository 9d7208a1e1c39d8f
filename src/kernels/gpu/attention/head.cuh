// One head of a token on its way to attention: a warp holds it in registers, normalises it and rotates it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/attention/attention_result.cuh"
#include "kernels/gpu/attention/cache_heads_arguments.hpp"
#include "kernels/gpu/float_bits.cuh"

namespace rung::gpu {

// Calls f(i, column) for each of a lane's pairs of columns, of the lower and of the upper half of a head of at most
// `pairs` pairs a lane: the pair's number in the lane, and its lower column.
template <int pairs, class F>
__device__ void for_each_pair(const CacheHeadsArguments& a, F f) {
#pragma unroll
  for (int i = 0; i < pairs; ++i)
    if (const uint32_t column = lane() + i * kLanes; column < a.half) f(i, column);
}

// A lane's columns of a row in memory, of which several rows are under way before the first is read.
template <int pairs>
struct LoadedHead {
  FloatBits low[pairs], high[pairs];
};
template <int pairs>
__device__ LoadedHead<pairs> load_columns(const CacheHeadsArguments& a, uint64_t base, DType type, int64_t row) {
  LoadedHead<pairs> to;
  const int64_t begin = row * 2 * a.half;
  for_each_pair<pairs>(a, [&](int i, uint32_t column) {
    to.low[i] = load_bits(base, type, begin + column), to.high[i] = load_bits(base, type, begin + a.half + column);
  });
  return to;
}

// A lane's columns of a head.
template <int pairs>
struct Head {
  using Loaded = LoadedHead<pairs>;
  float low[pairs], high[pairs];

  __device__ Head(const Loaded& from, DType type) {
#pragma unroll
    for (int i = 0; i < pairs; ++i) low[i] = from.low[i].value(type), high[i] = from.high[i].value(type);
  }
  __device__ void normalise(const CacheHeadsArguments& a, const Loaded& weight) {
    float squares = 0;
#pragma unroll
    for (int i = 0; i < pairs; ++i) squares += low[i] * low[i] + high[i] * high[i];
    const float scale = rsqrtf(lanes_sum(squares) / static_cast<float>(2 * a.half) + a.eps);
#pragma unroll
    for (int i = 0; i < pairs; ++i) {
      low[i] *= scale * (a.weight_offset + weight.low[i].value(a.weight_type));
      high[i] *= scale * (a.weight_offset + weight.high[i].value(a.weight_type));
    }
  }
  __device__ void rotate(const CacheHeadsArguments& a, const Loaded& cos, const Loaded& sin) {
#pragma unroll
    for (int i = 0; i < pairs; ++i) {
      const float x = low[i], y = high[i];
      low[i] = x * cos.low[i].value(a.cos_type) - y * sin.low[i].value(a.sin_type);
      high[i] = y * cos.high[i].value(a.cos_type) + x * sin.high[i].value(a.sin_type);
    }
  }
  template <DType type>
  __device__ void store(const CacheHeadsArguments& a, Element<type>* to) const {
    for_each_pair<pairs>(a, [&](int i, uint32_t column) {
      store_one<type>(to + column, low[i]), store_one<type>(to + a.half + column, high[i]);
    });
  }
  // Stores a head of heads of that type in a cache, as its number `place`.
  template <DType type>
  __device__ void store_in_cache(const CacheHeadsArguments& a, uint64_t cache, int64_t place) const {
    const int64_t at = place * 2 * a.half;
    if (a.caches_in_f8)
      store<DType::f8e4m3fn>(a, in_memory<f8e4m3>(cache) + at);
    else
      store<type>(a, in_memory<Element<type>>(cache) + at);
  }
};

}  // namespace rung::gpu
