// Which keys and values of a tile a lane multiplies, whichever way they come to it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/attention/cached_attention_sm90.hpp"
#include "kernels/gpu/portable.cuh"

namespace rung::gpu {

// Lane l has keys l / 4 and l / 4 + 8 of a tile, and values 2 (l % 4) and the next and those 8 behind them, eight
// columns of each 64. Which columns of keys it has follows from how they lie in shared memory.
template <CachedAttentionConfig config>
struct PlaceInTile {
  static constexpr int kTileKeys = CachedAttentionConfig::kTileKeys;
  static constexpr int kKeyParts = config.width / 32, kValueParts = config.width / 64;  // of eight columns

  __device__ static int key_of(int half) { return lane() / 4 + half * 8; }
  __device__ static int value_of(int i) { return lane() % 4 * 2 + i % 2 + i / 2 * 8; }
  __device__ static int value_column(int part) { return part * 64 + lane() / 4 * 8; }
};

}  // namespace rung::gpu
