// Attention of few queries over a short cache: the blocks of a cluster split the keys, and join the splits through each
// other's shared memory, so that no second kernel waits for them.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/attention/attention_cache.cuh"
#include "kernels/gpu/sm90/cluster.cuh"

namespace rung::gpu {
namespace {

using Config = CacheAttentionConfig;

// The sums of a block's split.
template <Config config>
struct Sums {
  float x[config.rows][config.width];
  float largest[config.rows], sum[config.rows];
};

// Returns the joined sum of one column of a row, from the blocks' splits.
template <Config config>
__device__ float joined(const Sums<config>& own, int splits, int row, int column) {
  Running total;
  float x = 0.0f;
  for (int i = 0; i < splits; ++i) {
    const float largest = load_peer(peer_address(&own.largest[row], i));
    const float factor = total.raise(largest), weight = total.weight(largest);
    x = x * factor + load_peer(peer_address(&own.x[row][column], i)) * weight;
    total.sum += load_peer(peer_address(&own.sum[row], i)) * weight;
  }
  return total.sum == 0.0f ? 0.0f : x / total.sum;
}

template <Config config>
__device__ void attend(const CacheAttentionArguments& all) {
  __shared__ Sums<config> own;
  CacheAttention<config> work(all);
  work.run(true, [&](int row, int d, float sum, const Running& total) {
    own.x[row][d] = sum;
    if (d == 0) own.largest[row] = total.largest, own.sum[row] = total.sum;
  });
  cluster_publish();
  cluster_wait();
  for (int i = work.split * config.threads + static_cast<int>(threadIdx.x); i < config.rows * config.width;
       i += all.splits * config.threads) {
    const int row = i / config.width, d = i % config.width;
    if (work.has(row, d)) work.out(row)[d] = from_float<Element<config.type>>(joined<config>(own, all.splits, row, d));
  }
  cluster_arrive();  // no block ends while others read its sums
  cluster_wait();
}

}  // namespace

#define RUNG_VARIANT(entry, ...)                                                                          \
  RUNG_KERNEL(Config::kThreadsTogether) entry(const __grid_constant__ CacheAttentionArguments a) { \
    attend<Config{__VA_ARGS__}>(a);                                                                       \
  }
#include "kernels/gpu/attention/attention_cache_sm90.inc"
#undef RUNG_VARIANT

}  // namespace rung::gpu
