// Linear layers of one to four tokens on Hopper, bound by the reading of their weights: a warp keeps a ring in shared
// memory full of them, from before the producers of x have ended on; eight warps share the K of a tile of eight rows,
// and another one adds up their sums while they go on to the next tile.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/linear/linear_stream_fetch_sm90.cuh"
#include "kernels/gpu/linear/linear_stream_finish_sm90.cuh"
#include "kernels/gpu/linear/linear_stream_products_sm90.cuh"

namespace rung::gpu {
namespace {

template <StreamConfig config>
__device__ void fetch(const LinearStreamArguments& a, uint32_t memory) {
  typename StreamFetch<config>::Filling filling;
  StreamFetch<config>(a, memory).fetch(filling, config.end);
}
template <StreamConfig config>
__device__ void multiply(const LinearStreamArguments& a, uint32_t memory) {
  const StreamProducts<config> work(a, memory);
  StreamProgress progress;
  wait_for_producers();
  work.multiply(work.load_x(), progress);
}
template <StreamConfig config>
__device__ void finish(const LinearStreamArguments& a, uint32_t memory) {
  const StreamFinish<config> work(a, memory, config.end);
  StreamProgress progress;
  work.prefetch();
  wait_for_producers();
  work.finish(progress);
}

template <StreamConfig config>
__device__ void linear_stream(const LinearStreamArguments& a) {
  extern __shared__ __align__(1024) unsigned char shared_memory[];
  allow_dependents();
  const uint32_t memory = shared_address(shared_memory);
  const uint32_t role = shuffle(warp(), 0);  // the compiler knows that it is uniform
  if (role == kStreamMultipliers) StreamBlock<config>(a, memory).init_barriers();
  if (role == kStreamMultipliers && elect_lane()) prefetch_map(a.w);
  sync_block();
  if (role == kStreamMultipliers) {
    if (elect_lane()) fetch<config>(a, memory);
  } else if (role < kStreamMultipliers) {
    multiply<config>(a, memory);
  } else {
    finish<config>(a, memory);
  }
}

}  // namespace

#define RUNG_VARIANT(entry, ...) \
  RUNG_KERNEL(kStreamThreads, 3) \
  entry(const __grid_constant__ LinearStreamArguments a) { linear_stream<StreamConfig{__VA_ARGS__}>(a); }
#include "kernels/gpu/linear/linear_stream.inc"
#undef RUNG_VARIANT

}  // namespace rung::gpu
