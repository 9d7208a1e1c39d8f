// Heads of a projection on their way to attention: a warp normalises and rotates a head in registers, and stores it
// with the queries, or in the row of a cache that is the place of its token.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/attention/cache_heads_arguments.hpp"
#include "kernels/gpu/fault.cuh"
#include "kernels/gpu/float_bits.cuh"

namespace rung::gpu {
namespace {

constexpr uint32_t kHeadWarps = kCacheHeadsThreads / kLanes;
constexpr int kPairs = kCacheHeadsMostPairs / kLanes;  // of a lane: columns of the lower and of the upper half

// Calls f(i, column) for each of the lane's pairs: the lower column and its number in the lane.
template <class F>
__device__ void for_each_pair(const CacheHeadsArguments& a, F f) {
#pragma unroll
  for (int i = 0; i < kPairs; ++i)
    if (const uint32_t column = lane() + i * kLanes; column < a.half) f(i, column);
}

// A lane's columns of a row in memory, of which several rows are under way before the first is read.
struct Loaded {
  FloatBits low[kPairs], high[kPairs];
};
__device__ Loaded load_columns(const CacheHeadsArguments& a, uint64_t base, DType type, int64_t row) {
  Loaded to;
  const int64_t begin = row * 2 * a.half;
  for_each_pair(a, [&](int i, uint32_t column) {
    to.low[i] = load_bits(base, type, begin + column), to.high[i] = load_bits(base, type, begin + a.half + column);
  });
  return to;
}

// A lane's columns of a head.
struct Head {
  float low[kPairs], high[kPairs];

  __device__ Head(const Loaded& from, DType type) {
#pragma unroll
    for (int i = 0; i < kPairs; ++i) low[i] = from.low[i].value(type), high[i] = from.high[i].value(type);
  }
  __device__ void normalise(const CacheHeadsArguments& a, const Loaded& weight) {
    float squares = 0;
#pragma unroll
    for (int i = 0; i < kPairs; ++i) squares += low[i] * low[i] + high[i] * high[i];
    const float scale = rsqrtf(lanes_sum(squares) / static_cast<float>(2 * a.half) + a.eps);
#pragma unroll
    for (int i = 0; i < kPairs; ++i) {
      low[i] *= scale * (a.weight_offset + weight.low[i].value(a.weight_type));
      high[i] *= scale * (a.weight_offset + weight.high[i].value(a.weight_type));
    }
  }
  __device__ void rotate(const CacheHeadsArguments& a, const Loaded& cos, const Loaded& sin) {
#pragma unroll
    for (int i = 0; i < kPairs; ++i) {
      const float x = low[i], y = high[i];
      low[i] = x * cos.low[i].value(a.cos_type) - y * sin.low[i].value(a.sin_type);
      high[i] = y * cos.high[i].value(a.cos_type) + x * sin.high[i].value(a.sin_type);
    }
  }
};

// Returns the slot of a cache that gets this row of x; -1: there is none, or a later row gets the same one.
__device__ int64_t slot_of(const CacheHeadsArguments& a, uint32_t row) {
  const int64_t slot = element<const int64_t>(a.places, row);
  if (slot < 0 || slot >= a.slots) {
    if (lane() == 0) report_fault(a.fault, Fault::index_out_of_range);
    return -1;
  }
  bool overwritten = false;
  for (uint32_t later = row + 1 + lane(); later < a.rows; later += kLanes)
    overwritten |= element<const int64_t>(a.places, later) == slot;
  return any_lane(overwritten) ? -1 : slot;
}

template <DType type>
__device__ void cache_heads(const CacheHeadsArguments& a) {
  using T = Element<type>;
  allow_dependents();
  const uint32_t of_row = a.heads + 2 * a.groups, turned = a.heads + a.groups;
  const uint32_t at = blockIdx.x * kHeadWarps + warp(), row = at / of_row, head = at - row * of_row;
  if (row >= a.rows) return;
  const bool is_query = head < a.heads, is_value = head >= turned, normed = a.norm_weight && !is_value;
  Loaded weight, cos, sin;
  if (normed && a.weight_constant) weight = load_columns(a, a.norm_weight, a.weight_type, head);
  wait_for_producers();
  if (normed && !a.weight_constant) weight = load_columns(a, a.norm_weight, a.weight_type, head);
  const Loaded loaded = load_columns(a, a.x, type, at);
  if (!is_value) cos = load_columns(a, a.cos, a.cos_type, row), sin = load_columns(a, a.sin, a.sin_type, row);
  const int64_t slot = is_query ? 0 : slot_of(a, row);
  if (slot < 0) return;
  Head x(loaded, type);
  if (normed) x.normalise(a, weight);
  if (!is_value) x.rotate(a, cos, sin);
  const int64_t group = head - (is_value ? turned : a.heads);
  const int64_t place = is_query ? int64_t{row} * a.heads + head : slot * a.groups + group;
  T* to = in_memory<T>(is_query ? a.q : is_value ? a.values : a.keys) + place * 2 * a.half;
  for_each_pair(a, [&](int i, uint32_t column) {
    to[column] = from_float<T>(x.low[i]), to[a.half + column] = from_float<T>(x.high[i]);
  });
}

}  // namespace

#define RUNG_VARIANT(entry, type) \
  RUNG_KERNEL(kCacheHeadsThreads) entry(const __grid_constant__ CacheHeadsArguments a) { cache_heads<type>(a); }
#include "kernels/gpu/attention/cache_heads.inc"
#undef RUNG_VARIANT

}  // namespace rung::gpu
