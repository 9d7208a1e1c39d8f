// Helpers of the rows of attention kernels whose queries, keys and values the hardware copies in boxes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/attention/attention.hpp"
#include "kernels/gpu/attention/attention_wgmma.hpp"

namespace rung::gpu {

// Returns the number of tiles of keys; no tile has keys of two segments.
int64_t key_tiles(const Problem& problem);
bool mask_differs_by_head(const Problem& problem);

Verdict supports_tiled_attention(const Problem& problem, const Machine& machine);

Status describe_tile(const Call& call, TileMap& map, const TileShape& shape);
// Describes all segments; keys come in the boxes of `key_shape`.
Status describe_segments(const Call& call, const AttentionArguments& a, TileMap (&k)[kMaxAttentionSegments],
                         TileMap (&v)[kMaxAttentionSegments], decltype(key_tile)& key_shape = key_tile);

}  // namespace rung::gpu
