// Shared memory of an attention block on warpgroups: the queries, the ring through which keys and values pass, and what
// the blocks of a cluster send each other; and the loader that fills it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/async_sm90.cuh"
#include "kernels/gpu/attention.cuh"
#include "kernels/gpu/attention_wgmma.hpp"

namespace rung::gpu {

// A tile of keys: where it begins in its segment and among all keys, and how many keys it has.
struct KeyTile {
  int segment = 0, key, number = 0, count;
  __device__ KeyTile(const AttentionArguments& a, int tile) {
    int before = 0;  // tiles
    for (;; ++segment) {
      const int tiles = (a.segment[segment].keys + kTileKeys - 1) / kTileKeys;
      if (tile < before + tiles || segment + 1 == a.segments) break;
      before += tiles, number += a.segment[segment].keys;
    }
    key = (tile - before) * kTileKeys, number += key;
    count = min(kTileKeys, a.segment[segment].keys - key);
  }
};

// Shared memory of a block.
template <GroupAttentionShape shape>
struct Memory {
  unsigned char* const base;
  const int splits, tiles;
  __device__ unsigned char* queries() const { return base; }
  __device__ unsigned char* received() const { return base; }  // [source][own row][sum_bytes], after the queries
  __device__ unsigned char* tile(int slot) const {
    return base + shape.received_bytes(splits) + slot * shape.tile_bytes();
  }
  __device__ Barrier* barriers() const { return reinterpret_cast<Barrier*>(tile(tiles)); }
  __device__ Barrier& queries_came() const { return barriers()[0]; }
  __device__ Barrier& sums_came() const { return barriers()[1]; }
  __device__ Barrier& full(int slot) const { return barriers()[2 + 2 * slot]; }
  __device__ Barrier& empty(int slot) const { return barriers()[3 + 2 * slot]; }
  // Both [source][own row].
  __device__ Running* statistics() const { return reinterpret_cast<Running*>(barriers() + 2 + 2 * tiles); }
  __device__ float* factors() const { return reinterpret_cast<float*>(statistics() + splits * shape.own_rows(splits)); }
};

// A place in the ring of tiles, and how often the ring has gone round.
struct Turn {
  int slot = 0, round = 0;
  __device__ void advance(int tiles) {
    if (++slot == tiles) slot = 0, ++round;
  }
};

// Fills the ring; the block's first warps, each with its own box of every tile. Order: keys 0, keys 1, values 0, keys
// 2, values 1, ... Has no branch within a warp: it may run beside products.
template <GroupAttentionShape shape>
struct Loader {
  const GroupAttentionArguments& a;
  const Memory<shape>& memory;
  const int first_row, first_tile, blocks;  // blocks: pairs of tiles
  const int box;                            // of this warp
  int issued = 0;
  Turn turn;

  __device__ bool works() const { return box < a.boxes; }
  __device__ void expect(Barrier& barrier, uint32_t bytes) const {
    barrier.arrive_expecting(bytes, box == 0 && lane() == 0);
  }
  // Asks for the descriptions of the first tiles.
  __device__ void prepare() const {
    if (lane() > 0 || box > 0 || blocks == 0) return;
    const int segment = next().segment;
    prefetch(a.q), prefetch(a.k[segment]), prefetch(a.v[segment]);
  }
  __device__ void load_queries() const {
    Barrier& barrier = memory.queries_came();
    expect(barrier, shape.query_bytes());
    const int ratio = a.attention.ratio, group = static_cast<int>(blockIdx.y), batch = static_cast<int>(blockIdx.z);
    for (int g = 0; g < shape.groups; ++g) {
      unsigned char* const to = memory.queries() + (g * shape.panels() + box) * 64 * 128;
      const int position = (first_row + g * 64) / ratio;
      if (ratio == 1)
        copy_box(to, a.q, {box * 64, position, 0, group, batch}, barrier, lane() == 0);
      else
        copy_box(to, a.q, {box * 64, 0, position, 0, a.attention.groups > 1 ? group : batch}, barrier, lane() == 0);
    }
  }
  __device__ bool next_is_values() const { return issued == 2 * blocks - 1 || (issued > 0 && issued % 2 == 0); }
  __device__ KeyTile next() const {
    const int block = issued == 2 * blocks - 1 ? blocks - 1 : next_is_values() ? issued / 2 - 1 : (issued + 1) / 2;
    return KeyTile(a.attention, first_tile + block * memory.splits);
  }
  __device__ void load_next() {
    const KeyTile tile = next();
    Barrier& barrier = memory.full(turn.slot);
    expect(barrier, shape.tile_bytes());
    copy_box(memory.tile(turn.slot) + box * kTileKeys * 128, next_is_values() ? a.v[tile.segment] : a.k[tile.segment],
             {box * 64, tile.key, 0, static_cast<int>(blockIdx.y), static_cast<int>(blockIdx.z)}, barrier, lane() == 0);
    turn.advance(memory.tiles), ++issued;
  }
  // As many tiles as there is room for now, and at least the first `wanted` of all.
  __device__ void refill(int wanted) {
    while (issued < 2 * blocks) {
      if (turn.round > 0 && issued >= wanted && !any_lane(memory.empty(turn.slot).has_ended(turn.round - 1))) return;
      if (turn.round > 0) memory.empty(turn.slot).wait(turn.round - 1);
      load_next();
    }
  }
};

}  // namespace rung::gpu
