// The heads of one token that one key head needs: its queries, the new key and the new value.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/attention/cached_attention_sm90.hpp"
#include "kernels/gpu/attention/head.cuh"

namespace rung::gpu {

// The new heads of a key head: queries, then its key and its value. A warp has some of them.
template <CachedAttentionConfig config>
class NewHeads {
 public:
  using T = Element<config.type>;
  using K = Element<config.key_type>;
  static constexpr int kPairs = config.width / 2 / kLanes, kWarps = config.warps();
  static constexpr int kOfWarp = (CachedAttentionConfig::kTileHeads + 2 + kWarps - 1) / kWarps;

  // `first`: the first of `queries` query heads of key head `group`; `warp`: as KeyTiles has it.
  __device__ NewHeads(const CacheHeadsArguments& a, int group, int first, int queries, int warp)
      : a(a), group(group), first(first), queries(queries), warp(warp) {}

  // Until then all that is loaded is zeros. The norm's weights usually come before the producers have ended.
  __device__ void begin() {
    half = a.half;
    if (!a.norm_weight) return;
    if (!a.weight_constant) wait_for_producers();
#pragma unroll
    for (int i = 0; i < kOfWarp; ++i)
      if (exists(i) && !is_value(i)) weight[i] = load_row(a.norm_weight, a.weight_type, head(i));
  }
  // Prefetches what producers have long left behind: weights that streamed through the cache since then may have driven
  // it out, and its loads would hold up all others.
  __device__ void prefetch() const {
    constexpr int kLine = 128;
    const int at = static_cast<int>(threadIdx.x) * kLine;
    if (at < bytes_of_angles(a.cos_type)) prefetch_to_l2(in_memory<const char>(a.cos) + at);
    if (at < bytes_of_angles(a.sin_type)) prefetch_to_l2(in_memory<const char>(a.sin) + at);
    if (at == 0) prefetch_to_l2(in_memory<const char>(a.places));
  }
  __device__ void load() {
#pragma unroll
    for (int i = 0; i < kOfWarp; ++i)
      if (exists(i)) x[i] = load_row(a.x, config.type, head(i));
    cos = load_row(a.cos, a.cos_type, 0), sin = load_row(a.sin, a.sin_type, 0);
  }
  // Leaves the heads in shared memory, the new key and value behind each other, and stores those in row `slot` of the
  // caches, if that is there. Heads go through the same code in turns: each launch fetches its code again.
  __device__ void make(T* to_queries, K* to_fresh, int64_t slot) {
#pragma unroll 1
    for (int i = 0; exists(i); ++i) {
      Head<kPairs> made(x[0], config.type);
      if (!is_value(i)) {
        if (a.norm_weight) made.normalise(a, weight[0]);
        made.rotate(a, cos, sin);
      }
      const int new_one = number(i) - queries;
      if (new_one < 0)
        made.template store<config.type>(a, to_queries + number(i) * config.width);
      else
        made.template store<config.key_type>(a, to_fresh + new_one * config.width);
      if (new_one >= 0 && slot >= 0)
        made.template store<config.key_type>(
            a, in_memory<K>(new_one == 0 ? a.keys : a.values) + (slot * a.groups + group) * 2 * a.half);
      bring_next();
    }
  }

 private:
  using Loaded = LoadedHead<kPairs>;

  __device__ int bytes_of_angles(DType type) const { return static_cast<int>(a.half) * (type == DType::f32 ? 8 : 4); }
  __device__ int number(int i) const { return warp + i * kWarps; }
  __device__ bool exists(int i) const { return number(i) < queries + 2; }
  __device__ bool is_value(int i) const { return number(i) == queries + 1; }
  __device__ int head(int i) const {
    if (number(i) < queries) return first + number(i);
    return static_cast<int>(a.heads) + group + (is_value(i) ? static_cast<int>(a.groups) : 0);
  }
  __device__ void bring_next() {
#pragma unroll
    for (int i = 0; i + 1 < kOfWarp; ++i) x[i] = x[i + 1], weight[i] = weight[i + 1];
  }
  // Loads the lane's columns of a row of heads. Both types of a pair of addresses are the same instructions.
  __device__ Loaded load_row(uint64_t base, DType type, uint32_t row) const {
    const uint32_t bytes = type == DType::f32 ? 4 : 2;
    const uint64_t low = base + static_cast<uint64_t>(row * 2 * a.half + lane()) * bytes;
    const uint64_t high = low + a.half * bytes;
    Loaded to;
#pragma unroll
    for (int i = 0; i < kPairs; ++i) {
      if (static_cast<uint32_t>(lane() + i * kLanes) >= half) break;
      const uint32_t at = i * kLanes * bytes;
      to.low[i] = load_bits(low + at, type, 0), to.high[i] = load_bits(high + at, type, 0);
    }
    return to;
  }

  const CacheHeadsArguments& a;
  const int group, first, queries, warp;
  uint32_t half = 0;                             // columns of half a head that are loaded
  Loaded x[kOfWarp], weight[kOfWarp], cos, sin;  // x and weight: of the heads to come
};

}  // namespace rung::gpu
