// Several linear layers of one to four tokens in one launch on Hopper, each of which reads what the one before it has
// given. The weights of all of them stream through one ring, so that the memory is at work while sums end, results are
// stored, and blocks meet.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/linear/linear_chain_arguments.hpp"
#include "kernels/gpu/linear/linear_stream_fetch_sm90.cuh"
#include "kernels/gpu/linear/linear_stream_finish_sm90.cuh"
#include "kernels/gpu/linear/linear_stream_products_sm90.cuh"
#include "kernels/gpu/sm90/grid_barrier.cuh"

namespace rung::gpu {
namespace {

constexpr StreamConfig stream_of(const ChainConfig& config, StreamEnd end) {
  return {config.x, config.w, end, config.grouped};
}

template <ChainConfig config>
class Chain {
 public:
  static constexpr StreamConfig kAny = stream_of(config, StreamEnd::any);

  __device__ Chain(const LinearChainArguments& arguments, uint32_t memory) : a(arguments), memory(memory) {}

  __device__ void prepare() const {  // by one warp
    if (lane() > 0 && lane() < a.count) barrier_init(turn(lane()), 1);
    StreamBlock<kAny>(a.layers[0], memory).init_barriers();
    if (lane() < a.count) prefetch_map(a.layers[lane()].w);
  }

  __device__ void fetch() const {
    typename StreamFetch<kAny>::Filling filling;
#pragma unroll 1
    for (uint32_t i = 0; i < a.count; ++i) StreamFetch<kAny>(a.layers[i], memory).fetch(filling, a.ends[i]);
  }

  __device__ void multiply() const {
    StreamProgress progress;
    wait_for_producers();
#pragma unroll 1
    for (uint32_t i = 0; i < a.count; ++i) {
      if (i > 0) barrier_wait(turn(i), 0);
      const StreamProducts<kAny> work(a.layers[i], memory);
      if (work.has_tiles()) work.multiply(work.load_x(), progress);
    }
  }

  __device__ void finish() const {
    StreamProgress progress;
    finish_of(0).prefetch();
    uint64_t target = 0;
    // The launch's code is in no cache, and to fetch an end's while weights stream takes microseconds. So each end is
    // rehearsed first, while the producers are at work: by the same instructions, hence the one loop.
#pragma unroll 1
    for (uint32_t step = 0; step < 2 * a.count; ++step) {
      const bool rehearses = step < a.count;
      const uint32_t i = rehearses ? step : step - a.count;
      if (step == a.count) {
        wait_for_producers();
        if (lane() + 1 < a.count) target = grid_target(counter(lane()), gridDim.x);
      }
      finish_of(i).finish(progress, rehearses);
      if (!rehearses && i + 1 < a.count) meet(i, target);
    }
  }

 private:
  __device__ StreamFinish<kAny> finish_of(uint32_t i) const { return {a.layers[i], memory, a.ends[i]}; }
  __device__ uint64_t counter(uint32_t i) const { return a.counters + uint64_t{i} * kChainCounterBytes; }
  __device__ uint32_t turn(uint32_t i) const { return memory + StreamShared::kTurnsAt + 8 * i; }  // a barrier

  // Waits until all blocks have finished layer `i`, for which its lane has the target, and gives the next one its turn.
  __device__ void meet(uint32_t i, uint64_t target) const {
    sync_warp();
    if (lane() == 0) grid_arrive(counter(i));
    finish_of(i + 1).prefetch();
    if (lane() == i) grid_wait(counter(i), target), barrier_arrive(turn(i + 1));
    sync_warp();
  }

  const LinearChainArguments& a;
  const uint32_t memory;  // shared address
};

template <ChainConfig config>
__device__ void linear_chain(const LinearChainArguments& a) {
  extern __shared__ __align__(1024) unsigned char shared_memory[];
  allow_dependents();
  const Chain<config> work(a, shared_address(shared_memory));
  const uint32_t role = shuffle(warp(), 0);  // the compiler knows that it is uniform
  if (role == kStreamMultipliers) work.prepare();
  sync_block();
  if (role == kStreamMultipliers) {
    if (elect_lane()) work.fetch();
  } else if (role < kStreamMultipliers) {
    work.multiply();
  } else {
    work.finish();
  }
}

}  // namespace

#define RUNG_VARIANT(entry, ...) \
  RUNG_KERNEL(kStreamThreads, 2) \
  entry(const __grid_constant__ LinearChainArguments a) { linear_chain<ChainConfig{__VA_ARGS__}>(a); }
#include "kernels/gpu/linear/linear_chain.inc"
#undef RUNG_VARIANT

}  // namespace rung::gpu
