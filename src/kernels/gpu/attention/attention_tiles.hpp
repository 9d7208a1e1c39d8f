// Helpers of the rows of attention kernels whose queries, keys and values the hardware copies in boxes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/attention/attention.hpp"
#include "kernels/gpu/attention/attention_wgmma.hpp"

namespace rung::gpu {

// Returns the number of tiles of keys; no tile has keys of two segments.
int64_t key_tiles(const Problem& problem, int64_t tile_keys = kTileKeys);
bool mask_differs_by_head(const Problem& problem);

// Accepts operands that can be copied in boxes, and no capped scores.
Verdict supports_tiled_operands(const Problem& problem, const Machine& machine);
// The same, if every query sees all keys.
Verdict supports_tiled_attention(const Problem& problem, const Machine& machine);

Status describe_tile(const Call& call, TileMap& map, const TileShape& shape);
// How segments are cut: the keys of a tile, and the boxes in which keys come.
struct SegmentTiles {
  int keys;
  decltype(key_tile)* shape = key_tile;
};
// Describes all segments.
Status describe_segments(const Call& call, const AttentionArguments& a, TileMap (&k)[kMaxAttentionSegments],
                         TileMap (&v)[kMaxAttentionSegments], const SegmentTiles& tiles);

}  // namespace rung::gpu
