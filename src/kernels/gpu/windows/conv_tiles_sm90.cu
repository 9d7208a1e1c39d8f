// Convolutions in tiles on Hopper: blocks that share windows are a cluster, and add up their sums through each other's
// shared memory in the order of their parts.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/sm90/send.cuh"
#include "kernels/gpu/windows/conv_tiles.cuh"

namespace rung::gpu {
namespace {

// Block v % parts ends vector v of the tile; its inbox has a slot for each block's sums of v.
template <ConvTile tile>
class ConvCluster {
 public:
  template <class Block>
  __device__ void prepare(const Block& block) {
    parts = block.parts(), rank = static_cast<uint32_t>(cluster_rank());
    inbox = shared_address(block.memory() + tile.inbox_offset());
    received = shared_address(block.memory() + tile.barrier_offset());
    if (parts == 1 || threadIdx.x > 0) return;
    barrier_init(received, 1);
    barrier_expect(received, Block::kVectors * kSlotBytes);  // the parts divide the tile evenly
    barrier_init_fence();
  }
  __device__ void arrive() const {
    if (parts > 1) cluster_arrive();  // the barrier can be used
  }
  __device__ void wait() const {
    if (parts > 1) cluster_wait();  // all blocks have begun
  }
  template <class Block>
  __device__ void end(const Block& block) const {
    if (parts > 1) exchange(block);
    for (uint32_t vector = threadIdx.x * parts + rank; vector < Block::kVectors; vector += blockDim.x * parts) {
      float y[kVector] = {};
      if (parts == 1) block.sum(vector, y);
      for (uint32_t from = 0; parts > 1 && from < parts; ++from) add(slot_of(vector, from), y);
      block.store(vector, false, y);
    }
  }

 private:
  template <class Block>
  __device__ void exchange(const Block& block) const {
#pragma unroll 2
    for (uint32_t vector = threadIdx.x; vector < Block::kVectors; vector += blockDim.x) {
      float y[kVector] = {};
      block.sum(vector, y);
      const uint32_t to = vector % parts, slot = slot_of(vector, rank);
      const uint32_t barrier = peer_address(received, to);
      send4({peer_address(slot, to), barrier}, make_float4(y[0], y[1], y[2], y[3]));
      send4({peer_address(slot + kQuadBytes, to), barrier}, make_float4(y[4], y[5], y[6], y[7]));
    }
    barrier_wait(received, 0);  // a block stays as long as others write to it
  }
  __device__ uint32_t slot_of(uint32_t vector, uint32_t from) const {
    return inbox + (vector - vector % parts + from) * kSlotBytes;
  }
  __device__ static void add(uint32_t slot, float (&y)[kVector]) {
#pragma unroll
    for (int i = 0; i < kVector; i += 4) {
      const float4 more = received4(slot + 4 * i);
      y[i] += more.x, y[i + 1] += more.y, y[i + 2] += more.z, y[i + 3] += more.w;
    }
  }

  static constexpr uint32_t kQuadBytes = 16, kSlotBytes = 2 * kQuadBytes;
  uint32_t parts = 1, rank = 0, inbox = 0, received = 0;  // inbox, received: shared addresses; received: a barrier
};

}  // namespace

#define RUNG_VARIANT(entry, ...) \
  RUNG_KERNEL((ConvTile{__VA_ARGS__}.threads(kLanes)), 2) \
      entry(const __grid_constant__ ConvTilesArguments a) { \
    conv_tiles<ConvTile{__VA_ARGS__}>(a, ConvCluster<ConvTile{__VA_ARGS__}>{}); \
  }
#include "kernels/gpu/windows/conv_tiles_sm90.inc"
#undef RUNG_VARIANT

}  // namespace rung::gpu
