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

  // `first`: the first of `queries` query heads of key head `group`.
  __device__ NewHeads(const CacheHeadsArguments& a, int group, int first, int queries)
      : a(a), group(group), first(first), queries(queries) {}

  __device__ void load_constants() {
    if (a.weight_constant) load_weights();
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
      if (exists(i)) x[i] = load_columns<kPairs>(a, a.x, config.type, head(i));
    cos = load_columns<kPairs>(a, a.cos, a.cos_type, 0), sin = load_columns<kPairs>(a, a.sin, a.sin_type, 0);
    if (!a.weight_constant) load_weights();
  }
  // Leaves the heads in shared memory, the new key and value behind each other, and stores those in row `slot` of the
  // caches, if that is there.
  __device__ void make(T* to_queries, K* to_fresh, int64_t slot) const {
#pragma unroll
    for (int i = 0; i < kOfWarp; ++i) {
      if (!exists(i)) break;
      Head<kPairs> made(x[i], config.type);
      if (a.norm_weight && !is_value(i)) made.normalise(a, weight[i]);
      if (!is_value(i)) made.rotate(a, cos, sin);
      const int new_one = number(i) - queries;
      if (new_one < 0)
        made.template store<config.type>(a, to_queries + number(i) * config.width);
      else
        made.template store<config.key_type>(a, to_fresh + new_one * config.width);
      if (new_one >= 0 && slot >= 0)
        made.template store<config.key_type>(
            a, in_memory<K>(new_one == 0 ? a.keys : a.values) + (slot * a.groups + group) * 2 * a.half);
    }
  }

 private:
  __device__ int bytes_of_angles(DType type) const { return static_cast<int>(a.half) * (type == DType::f32 ? 8 : 4); }
  __device__ int number(int i) const { return warp() + i * kWarps; }
  __device__ bool exists(int i) const { return number(i) < queries + 2; }
  __device__ bool is_value(int i) const { return number(i) == queries + 1; }
  __device__ int head(int i) const {
    if (number(i) < queries) return first + number(i);
    return static_cast<int>(a.heads) + group + (is_value(i) ? static_cast<int>(a.groups) : 0);
  }
  __device__ void load_weights() {
#pragma unroll
    for (int i = 0; i < kOfWarp; ++i)
      if (a.norm_weight && exists(i) && !is_value(i))
        weight[i] = load_columns<kPairs>(a, a.norm_weight, a.weight_type, head(i));
  }

  const CacheHeadsArguments& a;
  const int group, first, queries;
  LoadedHead<kPairs> x[kOfWarp], weight[kOfWarp], cos, sin;
};

}  // namespace rung::gpu
