// Shared memory of an attention block on warpgroups: the queries, the ring through which keys and values pass, and the
// sums that the blocks of a cluster send each other; and the loader that fills it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/attention/attention_wgmma.hpp"
#include "kernels/gpu/attention/seen_tiles_sm90.cuh"
#include "kernels/gpu/sm90/async.cuh"

namespace rung::gpu {

// The layout of a block's shared memory.
template <GroupAttentionConfig config>
struct Memory {
  const int splits, tiles;
  unsigned char *const base, *const ring;
  Barrier* const barriers;
  __device__ Memory(const GroupAttentionArguments& a, unsigned char* base)
      : splits(a.splits),
        tiles(a.tiles),
        base(base),
        ring(base + config.received_bytes(splits)),
        barriers(reinterpret_cast<Barrier*>(ring + tiles * config.slot_bytes())) {}
  __device__ unsigned char* queries() const { return base; }
  __device__ unsigned char* received() const { return base; }  // [source][own row][sum_bytes], after the queries
  __device__ unsigned char* tile(int slot) const { return ring + slot * config.slot_bytes(); }
  // Returns the mask of the slot's keys, which is added to their scores: two panels of 32 keys, rows of 128 bytes with
  // their chunks exchanged.
  __device__ unsigned char* mask(int slot) const { return tile(slot) + config.tile_bytes(); }
  __device__ Barrier& queries_came() const { return barriers[0]; }
  __device__ Barrier& sums_came() const { return barriers[1]; }
  __device__ Barrier& full(int slot) const { return barriers[2 + 2 * slot]; }
  __device__ Barrier& empty(int slot) const { return barriers[3 + 2 * slot]; }
  // Statistics and factors are both [source][own row].
  __device__ Running* statistics() const { return reinterpret_cast<Running*>(barriers + 2 + 2 * tiles); }
  __device__ float* factors() const {
    return reinterpret_cast<float*>(statistics() + splits * config.own_rows(splits));
  }
};

// A slot of a ring, and how often the ring has gone round.
struct PipelineState {
  int slot = 0, round = 0;
  __device__ void advance(int slots) {
    if (++slot == slots) slot = 0, ++round;
  }
};

// One thread fetches the queries, and one fills the ring, in the order keys 0, keys 1, values 0, keys 2, values 1, ...;
// keys come with their mask. Other threads prefetch the mask: layers share it, and one layer's weights push it out of
// the cache.
template <GroupAttentionConfig config>
struct Loader {
  using Tiles = TilesOf<config>;
  using Tile = TileOf<config>;
  const GroupAttentionArguments& a;
  const Memory<config> memory;
  const int first_row, group;  // group: the key head

  // Prefetches the tile maps of the first tiles.
  __device__ void prepare(const Tiles& tiles, const KeyShare& share) const {
    if (config.mask != MaskKind::span && share.blocks == 0) return;
    const int segment = Tile(tiles, share.first).segment;
    prefetch(a.q), prefetch(a.k[segment]), prefetch(a.v[segment]);
  }
  // Thread `thread` of `threads` prefetches its tiles' mask into the L2 cache, where late writes go as well.
  __device__ void prefetch_mask(const Tiles& tiles, const KeyShare& share, int thread, int threads) const {
    if constexpr (config.mask != MaskKind::copied) return;
    Tile tile(tiles, share.first + thread * share.step);
#pragma unroll 1
    for (int block = thread; block < share.blocks; block += threads, tile.advance(tiles, threads * share.step))
      for (int panel = 0; panel < 2; ++panel) prefetch_box(a.mask, mask_box(tile, panel).at);
  }
  __device__ void load_queries() const {
    Barrier& barrier = memory.queries_came();
    barrier.arrive_expecting(config.query_bytes(), true);
    const int ratio = a.attention.ratio, batch = static_cast<int>(blockIdx.z);
#pragma unroll 1
    for (int i = 0; i < config.groups * a.boxes; ++i) {
      const int g = i / a.boxes, box = i % a.boxes;
      unsigned char* const to = memory.queries() + (g * config.panels() + box) * 64 * 128;
      const int position = query_of(a.attention, first_row + g * 64);
      if (ratio == 1)
        copy_box(to, a.q, {box * 64, position, 0, group, batch}, barrier, true);
      else
        copy_box(to, a.q, {box * 64, 0, position, 0, a.attention.groups > 1 ? group : batch}, barrier, true);
    }
  }
  __device__ void fill_ring(const Tiles& tiles, const KeyShare& share) const {
    if (share.blocks == 0) return;
    Tile keys(tiles, share.first), values = keys;
    PipelineState state;
    load_keys(keys, state);
#pragma unroll 1
    for (int block = 0; block < share.blocks; ++block) {
      keys.advance(tiles, share.step);
      if (block + 1 < share.blocks) load_keys(keys, state);
      load_values(values, state);
      values = keys;
    }
  }

 private:
  struct Box {
    int at[TileShape::kRank];
  };
  // Returns the box of the first or second half of a tile's mask.
  __device__ Box mask_box(const Tile& tile, int half) const {
    const int query = a.mask_rows > 1 ? query_of(a.attention, first_row) : 0;
    const int batch = a.attention.mask_stride[0] ? static_cast<int>(blockIdx.z) : 0;
    return {{2 * tile.number() + half * 64, query, batch, 0, 0}};
  }
  __device__ void load_keys(const Tile& tile, PipelineState& state) const {
    if constexpr (config.mask == MaskKind::copied) {
      load(a.k[tile.segment], tile, state, static_cast<uint32_t>(2 * a.mask_rows * 128));
      for (int panel = 0; panel < 2; ++panel)
        copy_box(memory.mask(state.slot) + panel * config.mask_panel_bytes(), a.mask, mask_box(tile, panel).at,
                 memory.full(state.slot), true);
    } else {
      load(a.k[tile.segment], tile, state, 0);
    }
    state.advance(memory.tiles);
  }
  __device__ void load_values(const Tile& tile, PipelineState& state) const {
    load(a.v[tile.segment], tile, state, 0);
    state.advance(memory.tiles);
  }
  // Loads a tile into its slot, which `more` bytes reach by other copies.
  __device__ void load(const TileMap& map, const Tile& tile, const PipelineState& state, uint32_t more) const {
    if (state.round > 0) memory.empty(state.slot).wait(state.round - 1);
    Barrier& barrier = memory.full(state.slot);
    barrier.arrive_expecting(config.tile_bytes() + more, true);
#pragma unroll 1
    for (int box = 0; box < a.boxes; ++box)
      copy_box(memory.tile(state.slot) + box * config.keys * 128, map,
               {box * 64, tile.key, 0, group, static_cast<int>(blockIdx.z)}, barrier, true);
  }
};

}  // namespace rung::gpu
