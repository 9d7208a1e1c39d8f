// Fetches the weights of streamed layers, by one lane of a block.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/linear/linear_stream_block_sm90.cuh"

namespace rung::gpu {

template <StreamConfig config>
struct StreamFetch : StreamBlock<config> {
  using Block = StreamBlock<config>;
  using Block::a, Block::shared, Block::first_tile, Block::end_tile, Block::pieces, Block::full, Block::empty,
      Block::ring, Block::groups;
  using Block::Block;
  static constexpr bool k4Bits = config.has_4_bits();

  // A walk over the pieces of this block's tiles.
  struct Piece {
    uint32_t tile, index = 0;
    __device__ void advance(uint32_t pieces) {
      if (++index == pieces) index = 0, ++tile;
    }
  };
  // The stage that is filled next. All stages of a new ring count as free: the phase before the first one is over.
  struct Filling {
    Place at{0, 1};
    uint32_t filled = 0;  // stages, before the ring is full for the first time
  };
  // Fetches a piece whenever a stage is free. While the ring fills for the first time, the launch before is still at
  // work, and a burst would hold up its loads. `end`: that of the layer, which `config` need not have.
  __device__ void fetch(Filling& filling, StreamEnd end) const {
#pragma unroll 1
    for (Piece next{first_tile}; next.tile < end_tile; next.advance(pieces), filling.at.advance(a.stages)) {
      if (filling.filled < a.stages && filling.filled++ > 0 && a.throttle_ns > 0) pause_ns(a.throttle_ns);
      barrier_wait(empty + 8 * filling.at.stage, filling.at.parity);
      fetch(next, filling.at.stage, end);
    }
  }
  __device__ void fetch(const Piece& piece, uint32_t stage, StreamEnd end) const {
    const uint32_t barrier = full + 8 * stage;
    const uint32_t column = stream_column({config.x, config.w, end, config.grouped}, a.end.half, piece.tile);
    const int at[TileShape::kRank] = {0, static_cast<int>(column), 0, static_cast<int>(piece.index * kStreamChunks), 0};
    const GroupBytes own = group_bytes(piece);
    barrier_expect(barrier, kStreamStageBytes + (k4Bits ? 2 : 1) * own.count);
    stream_box({ring + stage * kStreamStageBytes, barrier}, a.w, at, policy_evict_first());
    if constexpr (config.grouped) {
      const uint32_t to = groups + stage * config.stage_groups();
      load_bytes({to, barrier}, a.group_scale + own.first, own.count);
      if constexpr (k4Bits) load_bytes({to + config.stage_scales(), barrier}, a.group_offset + own.first, own.count);
    }
  }
  // The bytes of a piece's scales, and of its offsets.
  struct GroupBytes {
    uint64_t first;
    uint32_t count;
  };
  __device__ GroupBytes group_bytes(const Piece& piece) const {
    if constexpr (!config.grouped) return {0, 0};
    const uint32_t chunk = piece.index * kStreamChunks;
    return {(uint64_t{piece.tile} * a.chunks + chunk) * config.chunk_scales(),
            min(a.chunks - chunk, kStreamChunks) * config.chunk_scales()};
  }
};

}  // namespace rung::gpu
