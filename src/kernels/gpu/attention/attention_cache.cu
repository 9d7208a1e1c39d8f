// Attention of few queries over a cache, which reads each key that is there once for all heads that share it, and
// nothing beyond the length: blocks split the keys by the length that they find, and a second kernel joins the splits.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/attention/attention_cache.cuh"

namespace rung::gpu {
namespace {

using Config = CacheAttentionConfig;

template <Config config>
__device__ void attend(const CacheAttentionArguments& all) {
  CacheAttention<config> work(all);
  using T = Element<config.type>;
  work.run(false, [&](int row, int d, float sum, const Running& total) {
    if (all.splits == 1) {
      work.out(row)[d] = from_float<T>(total.sum == 0.0f ? 0.0f : sum / total.sum);
      return;
    }
    const int width = all.attention.width;
    float* to = results_of(all, work.rows, work.split, work.first_row + row);
    to[d] = sum;
    if (d == 0) to[width] = total.largest, to[width + 1] = total.sum;
  });
}

// Joins the splits of one packed row: a block's threads share the splits, each thread a column of every few. A split's
// sums come with its statistics, as the reads take longer than the sums.
template <class T>
__device__ void join(const CacheAttentionArguments& all) {
  constexpr int kColumns = 64, kSharers = kJoinCacheThreads / kColumns;  // columns at a time; threads of each
  __shared__ float parts[3][kSharers][kColumns];
  const AttentionArguments& a = all.attention;
  const AttentionRows rows{a, static_cast<int>(blockIdx.z), static_cast<int>(blockIdx.y)};
  const int row = static_cast<int>(blockIdx.x), own = threadIdx.x % kColumns, sharer = threadIdx.x / kColumns;
  const float* from = results_of(all, rows, 0, row);
  const int64_t step = results_of(all, rows, 1, row) - from;
  allow_dependents();
  wait_for_producers();
  PresentKeys keys(a);
  keys.read_length(a);
  int splits = 1;
  while (splits < all.splits && !SplitKeys(all, keys, row / all.tile, splits).empty()) ++splits;
  for (int first = 0; first < a.width; first += kColumns) {
    const int d = min(first + own, a.width - 1);
    Running mine;
    float sum = 0.0f;
#pragma unroll 4
    for (int i = sharer; i < splits; i += kSharers) {
      const float x = from[i * step + d], largest = from[i * step + a.width], weights = from[i * step + a.width + 1];
      const float factor = mine.raise(largest), weight = mine.weight(largest);
      sum = sum * factor + x * weight, mine.sum += weights * weight;
    }
    parts[0][sharer][own] = sum, parts[1][sharer][own] = mine.largest, parts[2][sharer][own] = mine.sum;
    sync_block();
    if (sharer == 0 && first + own < a.width) {
      Running total;
      for (int i = 0; i < kSharers; ++i) total.raise(parts[1][i][own]);
      sum = 0.0f;
      for (int i = 0; i < kSharers; ++i) {
        const float weight = total.weight(parts[1][i][own]);
        sum += parts[0][i][own] * weight, total.sum += parts[2][i][own] * weight;
      }
      rows.out<T>(row)[d] = from_float<T>(total.sum == 0.0f ? 0.0f : sum / total.sum);
    }
    sync_block();
  }
}

}  // namespace

#define RUNG_VARIANT(entry, ...)                                                                          \
  RUNG_KERNEL(Config::kThreads) entry(const __grid_constant__ CacheAttentionArguments a) { \
    attend<Config{__VA_ARGS__}>(a);                                                                       \
  }
#include "kernels/gpu/attention/attention_cache.inc"
#undef RUNG_VARIANT

RUNG_KERNEL(kJoinCacheThreads) attention_cache_join_f32(const __grid_constant__ CacheAttentionArguments a) {
  join<float>(a);
}
RUNG_KERNEL(kJoinCacheThreads) attention_cache_join_bf16(const __grid_constant__ CacheAttentionArguments a) {
  join<bf16>(a);
}
RUNG_KERNEL(kJoinCacheThreads) attention_cache_join_f16(const __grid_constant__ CacheAttentionArguments a) {
  join<f16>(a);
}

}  // namespace rung::gpu
