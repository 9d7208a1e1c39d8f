// The configurations and arguments of the attention kernel for few queries, shared by host and device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/attention/attention_wgmma.hpp"

namespace rung::gpu {

// A block multiplies the keys of at most two tiles by packed query rows (so that few rows fill the instruction). The
// blocks of a cluster share the rows; each finishes some of the rows, from the sums that the others send.
struct SplitKvConfig {
  static constexpr int kWidth = 256, kGroups = 2, kTiles = 2;  // a warpgroup for each tile
  static constexpr int kThreads = 128 * kGroups, kWarps = 4 * kGroups, kPanels = kWidth / 64;
  static constexpr int kPieces = 2;  // queries and keys come in pieces, each some of the columns
  static constexpr int kBarriers = 1 + kTiles + (1 + kTiles) * kPieces;
  static constexpr uint32_t kTileBytes = kPanels * kTileKeys * 128;
  static constexpr uint32_t kSumBytes = kWidth * 2 + 16;  // bytes of a row of sums and its statistics, as sent

  DType type;
  int rows;    // packed query rows of a block: 16, 24 or 32
  int splits;  // blocks of a cluster, known at compile time; 0: SplitKvArguments::splits
  bool operator==(const SplitKvConfig&) const = default;
  static_assert(kTiles <= kPanels);  // the weights find room

  // Returns the rows that each of `blocks` blocks finishes.
  constexpr int own_rows(int blocks) const { return (rows + blocks - 1) / blocks; }
  // Shared memory has tiles of keys (whose place received and sent sums take later), tiles of values, queries (whose
  // place weights take later), a maximum and a sum of each warp and row, and barriers. A block of the layer behind the
  // attention then has room beside this one, and fetches its weights meanwhile.
  constexpr uint32_t values_at() const { return kTiles * kTileBytes; }
  constexpr uint32_t queries_at() const { return values_at() + kTiles * kTileBytes; }
  constexpr uint32_t weights_at() const { return queries_at(); }
  constexpr uint32_t maxima_at() const { return queries_at() + bytes(kPanels * 128); }
  constexpr uint32_t totals_at() const { return maxima_at() + bytes(kWarps * 4); }
  constexpr uint32_t barriers_at() const { return totals_at() + bytes(kWarps * 4); }
  constexpr uint32_t shared_bytes() const { return barriers_at() + kBarriers * 8; }

 private:
  constexpr uint32_t bytes(int of_row) const { return static_cast<uint32_t>(rows * of_row); }
};

struct SplitKvArguments {
  AttentionArguments attention;
  int32_t splits;       // blocks of a cluster
  int32_t tiles;        // tiles of keys, in all
  int32_t ratio_shift;  // the logarithm of attention.ratio

  // The numbers of the first tile and key of each segment.
  int32_t first_tile[kMaxAttentionSegments], first_key[kMaxAttentionSegments];
  TileMap q;
  TileMap k[kMaxAttentionSegments];
  TileMap v[kMaxAttentionSegments];
};

inline TileShape split_kv_query_tile(const AttentionArguments& a, int rows) {
  TileShape tile = query_tile(a);
  tile.box[2] = static_cast<uint32_t>(rows / a.ratio);
  tile.box[3] = SplitKvConfig::kPanels / SplitKvConfig::kPieces;
  return tile;
}
inline TileShape split_kv_key_tile(const AttentionArguments& a, const AttentionSegment& segment, int tile_keys) {
  TileShape tile = key_tile(a, segment, tile_keys);
  tile.box[2] = SplitKvConfig::kPanels / SplitKvConfig::kPieces;
  return tile;
}

// Sets all but the tile maps and `splits` from `attention`.
inline void set_tiles(SplitKvArguments& a) {
  int tile = 0, key = 0;
  for (int i = 0; i < kMaxAttentionSegments; ++i) {
    const int keys = i < a.attention.segments ? a.attention.segment[i].keys : 0;
    a.first_tile[i] = tile, a.first_key[i] = key;
    tile += (keys + kTileKeys - 1) / kTileKeys, key += keys;
  }
  a.tiles = tile;
  for (a.ratio_shift = 0; 1 << a.ratio_shift < a.attention.ratio;) ++a.ratio_shift;
}

}  // namespace rung::gpu
