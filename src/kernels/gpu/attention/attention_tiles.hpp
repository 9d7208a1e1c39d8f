// Shared by the rows of attention kernels that have boxes of queries, keys and values copied by the hardware.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/attention/attention.hpp"
#include "kernels/gpu/attention/attention_wgmma.hpp"

namespace rung::gpu {

// Tiles of keys; none is of two segments.
int64_t key_tiles(const Problem& problem);
bool mask_differs_by_head(const Problem& problem);

Verdict supports_tiled_attention(const Problem& problem, const Machine& machine);

Status describe_tile(const Call& call, TileMap& map, const TileShape& shape);
// Keys come in the boxes of `key_shape`.
Status describe_segments(const Call& call, const AttentionArguments& a, TileMap (&k)[kMaxAttentionSegments],
                         TileMap (&v)[kMaxAttentionSegments], decltype(key_tile)& key_shape = key_tile);

}  // namespace rung::gpu
