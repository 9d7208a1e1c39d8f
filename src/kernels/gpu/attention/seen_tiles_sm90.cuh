// Tiles of keys, in the order in which the blocks of an attention on warpgroups go through them: all keys, segment by
// segment, or those that a block's rows see by their places.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <type_traits>

#include "kernels/gpu/attention/attention.cuh"
#include "kernels/gpu/attention/attention_wgmma.hpp"

namespace rung::gpu {

// A block's share of the tiles: every `step`-th from the first on.
struct KeyShare {
  int first, step, blocks;
};

// All tiles, and one of them: its first key in its segment, the keys of the segments before, and its number of keys.
struct AllTiles {
  const AttentionArguments& a;
  __device__ AllTiles(const AttentionArguments& a, int, int) : a(a) {}
  __device__ int count() const { return key_tiles(a); }
};
struct KeyTile {
  int segment = 0, key, before = 0, count;
  __device__ KeyTile(const AllTiles& all, int tile) : key(tile * kTileKeys) { settle(all.a); }
  __device__ void advance(const AllTiles& all, int tiles) {
    key += tiles * kTileKeys;
    settle(all.a);
  }
  __device__ int number() const { return before + key; }  // the first key's number among all keys

 private:
  __device__ void settle(const AttentionArguments& a) {
    int keys = a.segment[segment].keys;
#pragma unroll 1
    for (int padded; segment + 1 < a.segments && key >= (padded = (keys + kTileKeys - 1) / kTileKeys * kTileKeys);) {
      key -= padded, before += keys;
      keys = a.segment[++segment].keys;
    }
    count = min(kTileKeys, keys - key);
  }
};

// The tiles of the keys that any of a block's rows sees, of one segment. In a cache whose first key stands anywhere,
// tiles go up to the memory's end, then on from its begin.
template <int tile_keys>
class SeenTiles {
 public:
  __device__ SeenTiles(const AttentionArguments& a, int first_row, int rows)
      : a_(a), first_row_(first_row), rows_(rows), present_(a) {}
  // Producers must have been waited for, and all lanes must call it: the compiler then knows that a warp's lanes go
  // through the same tiles.
  __device__ void read_length() {
    present_.read_length(a_);
    present_.count = shuffle(present_.count, 0), present_.first_query = shuffle(present_.first_query, 0);
    present_.first = shuffle(present_.first, 0), present_.prefix = shuffle(present_.prefix, 0);
    const SeenKeys seen(a_, present_, first_row_, rows_);
    begin_ = seen.begin, end_ = max(seen.begin, seen.end);
    turn_ = max(begin_, min(end_, present_.rows - present_.first));
  }
  __device__ int count() const { return before_turn() + tiles_of(end_ - turn_); }
  __device__ const PresentKeys& present() const { return present_; }

 private:
  template <int>
  friend struct SeenTile;
  __device__ static int tiles_of(int keys) { return (keys + tile_keys - 1) / tile_keys; }
  __device__ int before_turn() const { return tiles_of(turn_ - begin_); }

  const AttentionArguments& a_;
  const int first_row_, rows_;
  PresentKeys present_;
  int begin_ = 0, turn_ = 0, end_ = 0;  // keys are counted from the first one that is there
};
// One of them: its first key's row in memory, and its number of keys.
template <int tile_keys>
struct SeenTile {
  static constexpr int segment = 0;
  int key, count;
  __device__ SeenTile(const SeenTiles<tile_keys>& seen, int tile) : tile_(tile) { settle(seen); }
  __device__ void advance(const SeenTiles<tile_keys>& seen, int tiles) {
    tile_ += tiles;
    settle(seen);
  }
  __device__ int number() const { return number_; }  // of the first key, counted from the first one that is there

 private:
  __device__ void settle(const SeenTiles<tile_keys>& seen) {
    const int turned = tile_ - seen.before_turn();
    number_ = turned < 0 ? seen.begin_ + tile_ * tile_keys : seen.turn_ + turned * tile_keys;
    count = min(tile_keys, (turned < 0 ? seen.turn_ : seen.end_) - number_);
    key = seen.present_.row(number_);
  }
  int tile_, number_;
};

template <GroupAttentionConfig config>
using TilesOf = std::conditional_t<config.mask == MaskKind::span, SeenTiles<config.keys>, AllTiles>;
template <GroupAttentionConfig config>
using TileOf = std::conditional_t<config.mask == MaskKind::span, SeenTile<config.keys>, KeyTile>;

}  // namespace rung::gpu
