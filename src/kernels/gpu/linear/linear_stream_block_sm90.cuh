// A block's shared memory while weights stream through it, and what its warps do one layer at a time: of one layer, or
// of several in a launch.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/linear/linear_stream_arguments.hpp"
#include "kernels/gpu/sm90/bulk_copy.cuh"
#include "kernels/gpu/sm90/shared_memory.cuh"

namespace rung::gpu {

// A walk round a ring of barriers, whose phases alternate.
struct Place {
  uint32_t stage = 0, parity = 0;
  __device__ void advance(uint32_t stages) {
    if (++stage == stages) stage = 0, parity ^= 1;
  }
};

// A warp goes on from here in the next layer: its place in a ring, and the tiles so far, in whole groups.
struct StreamProgress {
  Place at;
  uint32_t count = 0;
};

// The place of a block's barriers and rings, and its tiles of a layer. Rings and the parities of their barriers go on
// from layer to layer.
template <StreamConfig config>
struct StreamBlock {
  static constexpr uint32_t kWarps = kStreamMultipliers;

  const LinearStreamArguments& a;
  const StreamShared shared;
  uint32_t first_tile, end_tile, pieces;
  uint32_t full, empty, sums_full, sums_free;  // shared addresses of barriers
  uint32_t all_sums, x, ring, groups;          // shared addresses

  __device__ StreamBlock(const LinearStreamArguments& arguments, uint32_t memory)
      : a(arguments), shared{arguments.room_chunks, arguments.m, config} {
    first_tile = blockIdx.x * a.tiles / gridDim.x;
    end_tile = (blockIdx.x + 1) * a.tiles / gridDim.x;
    pieces = (a.chunks + kStreamChunks - 1) / kStreamChunks;
    full = memory, empty = full + 8 * kStreamMostStages;
    sums_full = empty + 8 * kStreamMostStages, sums_free = sums_full + 16;
    static_assert(16 * kStreamMostStages + 32 <= StreamShared::kTurnsAt);
    all_sums = memory + StreamShared::kHeaderBytes;
    x = all_sums + shared.bytes_of_all_sums() + warp() * shared.x_bytes_of_warp();
    ring = memory + shared.ring(), groups = memory + shared.groups(a.stages);
  }

  __device__ void init_barriers() const {  // by one warp
    if (lane() < a.stages) barrier_init(full + 8 * lane(), 1), barrier_init(empty + 8 * lane(), kWarps);
    if (lane() < 2) barrier_init(sums_full + 8 * lane(), kWarps), barrier_init(sums_free + 8 * lane(), 1);
    barrier_init_fence();
  }
  __device__ bool has_tiles() const { return first_tile < end_tile; }
  // Returns the number that the tiles of later layers go on from: sums are kept in groups of tiles, each of one layer.
  __device__ uint32_t count_after(uint32_t count) const {
    const uint32_t own = end_tile - first_tile, group = shared.group();
    return count + (own + group - 1) / group * group;
  }
  // Returns the shared address of a warp's sums of the tile that is `count` tiles behind the launch's first.
  __device__ uint32_t sums_of(uint32_t count, uint32_t of_warp, uint32_t token) const {
    const uint32_t slot = count % (2 * shared.group());
    return all_sums + slot * shared.bytes_of_sums() + (of_warp * a.m + token) * kStreamRows * 4;
  }
};

}  // namespace rung::gpu
