// The configurations and arguments of the kernel that takes a token's heads to its cache and attends over it, shared
// by host and device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "device/gpu/tile_map.hpp"
#include "ir/dtype.hpp"
#include "kernels/gpu/attention/attention_arguments.hpp"
#include "kernels/gpu/attention/cache_heads_arguments.hpp"

namespace rung::gpu {

// A warp takes a tile of kTileKeys keys at a time, for kTileHeads query heads, and has a ring of tiles under way.
struct CachedAttentionConfig {
  static constexpr int kTileKeys = 16, kTileHeads = 8;
  static constexpr int kBoxAlignment = 1024;  // of boxes in shared memory
  static constexpr int kMostSplits = 16;      // blocks of a cluster, a power of two

  DType type;      // of queries and results
  DType key_type;  // of keys and values: the same, or f8e4m3fn
  int width;       // of the kernel: 64, 128 or 256; heads are padded to it with zeros
  bool operator==(const CachedAttentionConfig&) const = default;

  constexpr int warps() const { return width == 64 ? 8 : width == 128 ? 4 : 3; }
  constexpr int threads() const { return warps() * 32; }
  // The registers of this many blocks of this many threads fit a multiprocessor: at most 112 and 128 of a thread of the
  // widths 64 and 128, with which blocks find room beside those of linear_chain_sm90.
  constexpr int bound_threads() const { return width == 64 ? 288 : threads(); }
  constexpr int bound_blocks() const { return width == 128 ? 4 : 2; }
  // Whether blocks do their work once on no data: wider heads have no registers for a loop around all of it.
  constexpr bool rehearses() const { return width == 64 || (width == 128 && !has_8_bits()); }
  // Whether one lane copies whole tiles for its warp, or each lane the chunks of 8 elements that it multiplies.
  constexpr bool copies_boxes() const { return !has_8_bits() && width <= 128; }
  constexpr bool has_8_bits() const { return key_type == DType::f8e4m3fn; }
  constexpr int chunk_bytes() const { return has_8_bits() ? 8 : 16; }
  constexpr int chunks() const { return width / 8; }  // of a lane in a tile: of keys, then as many of values
  // Stages of a ring: for long caches, and for those of which a warp has a few tiles. The latter leave the next
  // kernel's blocks more room.
  constexpr int stages() const { return (width == 256 ? 2 : 3) * few_stages(); }
  constexpr int few_stages() const { return has_8_bits() ? 2 : 1; }

  // Shared memory has the queries, behind them the new key and value, the sums and statistics that the cluster's blocks
  // send, the barrier that counts them, barriers of the rings, and the warps' rings, in whose place each warp leaves
  // its sums.
  static constexpr int queries_at() { return 0; }
  constexpr int fresh_at() const { return queries_at() + kTileHeads * width * 2; }
  constexpr int sums_at() const { return fresh_at() + 2 * width * 2; }
  constexpr int statistics_at() const { return sums_at() + kTileHeads * width * 4; }
  constexpr int barrier_at() const { return statistics_at() + kMostSplits * kTileHeads * 8; }
  constexpr int ring_barriers_at() const { return barrier_at() + 16; }
  constexpr int rings_at() const {
    if (!copies_boxes()) return ring_barriers_at();
    return (ring_barriers_at() + warps() * stages() * 16 + kBoxAlignment - 1) / kBoxAlignment * kBoxAlignment;
  }
  constexpr int ring_bytes(int of_stages) const { return of_stages * chunks() * 32 * chunk_bytes(); }  // of a warp
  constexpr int shared_bytes(int of_stages) const { return rings_at() + warps() * ring_bytes(of_stages); }
};

// A cluster has kTileHeads query heads of key head blockIdx.y: those from blockIdx.z * kTileHeads on.
struct CachedAttentionArguments {
  CacheHeadsArguments heads;
  AttentionArguments attention;
  int32_t split_bits;  // the logarithm of the cluster's blocks
  int32_t stages;      // of a ring: the config's, or its few
  int32_t boxes;       // of a tile, where the kernel copies boxes
  TileMap k, v;
};

}  // namespace rung::gpu
