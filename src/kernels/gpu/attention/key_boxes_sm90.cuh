// The tiles of keys and values that a warp attends to, on their way from a cache through a ring in shared memory, as
// boxes of the copy engine.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/attention/attention.cuh"
#include "kernels/gpu/attention/cached_attention_sm90.hpp"
#include "kernels/gpu/attention/place_in_tile_sm90.cuh"
#include "kernels/gpu/sm90/async.cuh"
#include "kernels/gpu/sm90/wgmma.cuh"

namespace rung::gpu {

// A tile is kTileKeys rows of the cache, in their order in memory, whichever key is the oldest. Chunks of 16 bytes are
// exchanged in shared memory (swizzled()); of a lane's columns no two of eight lanes share a bank. One lane copies for
// its warp. Each place in the ring has a barrier for keys and one for values, which has one phase under way
// whether or not it has a tile to wait for.
template <CachedAttentionConfig config>
class KeyBoxes : public PlaceInTile<config> {
 public:
  using Chunk = uint4;
  using Place = PlaceInTile<config>;
  using Place::kTileKeys, Place::kKeyParts, Place::kValueParts, Place::value_column, Place::key_of, Place::value_of;

  // As for KeyTiles.
  __device__ KeyBoxes(const CachedAttentionArguments& all, AttentionRows of_group, int first_row, int warp,
                      unsigned char* base)
      : all(all),
        a(all.attention),
        group(of_group.group),
        first_row(first_row),
        step(config.warps() << all.split_bits),
        stages(all.stages),
        tiles((a.keys + kTileKeys - 1) / kTileKeys),
        ring(base + config.rings_at() + warp * config.ring_bytes(stages)),
        barriers(reinterpret_cast<Barrier*>(base + config.ring_barriers_at()) + warp * 2 * config.stages()),
        fresh(reinterpret_cast<const unsigned char*>(base + config.fresh_at())),
        own(static_cast<int>(blockIdx.x) + (warp << all.split_bits)) {}

  __device__ static int key_column(int part) { return part / 2 * 64 + lane() % 4 * 16 + part % 2 * 8; }

  // Makes the barriers, and prefetches the tiles that come first where nothing is hidden. Neither a length nor a cache
  // is read before its producers have ended.
  __device__ void prepare() const {
    if (threadIdx.x == 0) prefetch_to_l2(a.length);
    constexpr int kFirst = (8 + config.warps() - 1) / config.warps();
    if (lane() == 0) {
      for (int i = 0; i < 2 * stages; ++i) barriers[i].init(1);
      publish_barriers();
#pragma unroll 1
      for (int i = 0, tile_at = own; i < kFirst && tile_at < tiles; ++i, tile_at += step)
#pragma unroll 1
        for (int box = 0; box < all.boxes; ++box) {
          prefetch_box(all.k, {box * 64, tile_at * kTileKeys, 0, group, 0});
          prefetch_box(all.v, {box * 64, tile_at * kTileKeys, 0, group, 0});
        }
    }
    sync_warp();
  }
  // Until then there is one tile, of keys before the first one, which nothing fills.
  __device__ void begin() { tile = own, end_tile = tiles, stage = 0, knows_length = false; }
  // Starts the first copies. Usually all keys are there from memory's first row on, so that they come with the length.
  __device__ void start() {
#pragma unroll 1
    for (int i = 0; i < stages; ++i) {
#pragma unroll 1
      for (int part = 0; part < 2; ++part) copy(static_cast<Part>(part), i, tile + i * step);
      if (!knows_length && !read_length()) wait(Part::keys), wait(Part::values), i = -1;
    }
  }
  // Says which row of the cache the new key and value have: they come from shared memory.
  __device__ void set_new_row(int row) { new_row = row; }

  // Blocks take turns, then their warps: the tile in use and those that follow it.
  __device__ bool exists() const { return tile < end_tile; }
  __device__ bool is_seen(int of_tile) const {
    const int row = tile * kTileKeys + of_tile, key = key_of_row(row);
    return row < a.keys && key < end && (key >= window || key < prefix);
  }
  // Waits for the tile's keys, and puts the new one among them if it has their row.
  __device__ void take_keys() {
    wait(Part::keys);
    const int at = new_row - tile * kTileKeys;
    if (at < 0 || at >= kTileKeys) return;
    if (lane() / 4 == at % 8)
#pragma unroll 1
      for (int part = 0; part < kKeyParts; ++part)
        if (key_column(part) < a.width) key_chunk(part, at / 8) = fresh_chunk(key_column(part));
    fence_for_matrix_units();
  }
  // The same for values. Zeros stand in place of those that are not seen, which may be no numbers.
  __device__ void take_values() {
    wait(Part::values);
    const int at = new_row - tile * kTileKeys;
    const bool has_new = at >= 0 && at < kTileKeys;
    if (!has_new && all_seen()) return;
    const bool is_own = has_new && lane() % 4 == at / 2 % 4;
#pragma unroll 1
    for (int part = 0; part < kValueParts; ++part) {
      if (is_own && value_column(part) < a.width)
        value_chunk(part, at % 2 + at / 8 * 2) = fresh_chunk(config.width + value_column(part));
#pragma unroll 1
      for (int j = 0; j < 4; ++j)
        if (!is_seen(value_of(j))) value_chunk(part, j) = Chunk{};
    }
    fence_for_matrix_units();
  }
  __device__ const Chunk& key(int part, int half) const { return key_chunk(part, half); }
  __device__ const Chunk& value(int part, int j) const { return value_chunk(part, j); }
  // Give the place of the tile's keys, or of its values, to the tile that is a ring behind it.
  __device__ void release_keys() const { release(Part::keys); }
  __device__ void release_values() const { release(Part::values); }
  __device__ void advance() {
    stage = stage + 1 == stages ? 0 : stage + 1;
    tile += step;
  }
  // Waits for all copies that nobody will take.
  __device__ void drain() {
#pragma unroll 1
    for (stage = 0; stage < stages; ++stage) wait(Part::keys), wait(Part::values);
  }

 private:
  enum class Part { keys, values };
  static constexpr int kPanelBytes = kTileKeys * 128, kPartBytes = kValueParts * kPanelBytes;

  __device__ unsigned char* place(int of_stage, Part part) const {
    return ring + (of_stage * 2 + static_cast<int>(part)) * kPartBytes;
  }
  __device__ Chunk& key_chunk(int part, int half) const {
    unsigned char* const panel = place(stage, Part::keys) + part / 2 * kPanelBytes;
    return *reinterpret_cast<Chunk*>(panel + swizzled(key_of(half), lane() % 4 * 2 + part % 2));
  }
  __device__ Chunk& value_chunk(int part, int j) const {
    unsigned char* const panel = place(stage, Part::values) + part * kPanelBytes;
    return *reinterpret_cast<Chunk*>(panel + swizzled(value_of(j), lane() / 4));
  }
  __device__ const Chunk& fresh_chunk(int column) const { return *reinterpret_cast<const Chunk*>(fresh + column * 2); }
  __device__ int key_of_row(int row) const { return row >= oldest ? row - oldest : row - oldest + a.keys; }
  // Returns whether the query sees all keys of the tile, whose numbers follow each other.
  __device__ bool all_seen() const {
    const int first = tile * kTileKeys, last = first + kTileKeys - 1;
    return last < a.keys && key_of_row(first) < key_of_row(last) && key_of_row(last) < end &&
           (key_of_row(first) >= window || key_of_row(last) < prefix);
  }

  __device__ void wait(Part part) {
    const int bit = stage * 2 + static_cast<int>(part);
    barriers[bit].wait(static_cast<int>(phases >> bit));
    phases ^= 1u << bit;
  }
  __device__ void release(Part part) const {
    sync_warp();
    copy(part, stage, tile + stages * step);
  }
  // Starts the copy of a tile's keys or values, or ends the barrier's phase where there is none.
  __device__ void copy(Part part, int to_stage, int of_tile) const {
    Barrier& barrier = barriers[to_stage * 2 + static_cast<int>(part)];
    const bool is_there = of_tile >= 0 && of_tile < end_tile;
    barrier.arrive_expecting(is_there ? kPartBytes : 0, lane() == 0);
    if (!is_there) return;
#pragma unroll 1
    for (int box = 0; box < all.boxes; ++box)
      copy_box(place(to_stage, part) + box * kPanelBytes, part == Part::keys ? all.k : all.v,
               {box * 64, of_tile * kTileKeys, 0, group, 0}, barrier, lane() == 0);
  }
  // Takes in the length; returns whether the first tile is the one whose copies were started without it.
  __device__ bool read_length() {
    PresentKeys present(a);
    present.read_length(a);
    const SeenKeys seen(a, present, first_row, 1);
    end = seen.end, oldest = present.first, knows_length = true;
    if (!a.span.sees_all) prefix = present.prefix, window = present.first_query - a.span.before;
    const bool wraps = oldest + seen.end > a.keys;
    const int first = wraps ? 0 : (oldest + seen.begin) / kTileKeys;
    if (!wraps) end_tile = (oldest + seen.end + kTileKeys - 1) / kTileKeys;
    tile += first;
    return first == 0;
  }

  const CachedAttentionArguments& all;
  const AttentionArguments& a;
  const int group, first_row, step, stages;
  const int tiles;  // of the whole memory
  unsigned char* const ring;
  Barrier* const barriers;
  const unsigned char* const fresh;  // the new key, then the new value
  const int own;                     // the warp's first tile, where nothing is hidden
  bool knows_length = true;
  int oldest = 0;               // the row of the first key that is there
  int end = 0, new_row = -1;    // end: as keys are counted that are there; new_row: -1: there is no new one
  int window = 0, prefix = 0;   // keys are seen from the one on, and up to the other
  int tile = -1, end_tile = 0;  // the tile in use, and the one behind the last
  int stage = 0;                // the place in the ring of the tile in use
  uint32_t phases = 0;          // of each barrier, the parity of its phase under way
};

}  // namespace rung::gpu
