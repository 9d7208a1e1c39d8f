// The configurations, the argument and the shared memory of the streaming linear kernels, shared by host and device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "device/gpu/tile_map.hpp"
#include "kernels/gpu/linear/linear_ends.hpp"

namespace rung::gpu {

constexpr uint32_t kStreamMultipliers = 8;                              // warps that share K
constexpr uint32_t kStreamThreads = (kStreamMultipliers + 2) * 32;      // and one that fetches, and one that finishes
constexpr uint32_t kStreamTokens = 4;                                   // the most rows of x
constexpr uint32_t kStreamRows = 8;                                     // of w in a tile
constexpr uint32_t kStreamNormRun = kStreamRows;                        // columns whose squares share a mean
constexpr uint32_t kStreamChunkBytes = 128;                             // of each row, which a warp takes at a time
constexpr uint32_t kStreamChunks = 16;                                  // of a stage
constexpr uint32_t kStreamChunkRows = kStreamRows * kStreamChunkBytes;  // bytes of a chunk of all rows
constexpr uint32_t kStreamStageBytes = kStreamChunks * kStreamChunkRows;
constexpr uint32_t kStreamMostStages = 12;

// The end of a layer; each has its own kernels. Pairs are columns that are finished together.
enum class StreamEnd : uint8_t { any, gated, rotated, norm };

// A variant of the kernel: the types of x and w, and the end.
struct StreamConfig {
  DType x, w;
  StreamEnd end;
  bool operator==(const StreamConfig&) const = default;

  constexpr bool pairs() const { return end == StreamEnd::gated || end == StreamEnd::rotated; }
  constexpr bool has_8_bits() const { return w == DType::f8e4m3fn || w == DType::i8; }
};

// A tile is kStreamRows rows of w, or half as many and their partners. A block takes a run of tiles one after another,
// and its warps share each tile's K.
struct LinearStreamArguments {
  TileMap w;  // boxes of a chunk's elements of 16 bits, the rows of a tile, their partners, and kStreamChunks chunks
  uint64_t x;
  LinearPrologue begin;
  LinearEpilogue end;    // strides are multiples of 4
  uint32_t m, n;         // n: a multiple of 4
  uint32_t chunks;       // of K
  uint32_t x_stride;     // bytes from row to row; a multiple of 16
  uint32_t tiles;        // of all blocks
  uint32_t stages;       // of the ring of weights
  uint32_t throttle_ns;  // between two stages, while the ring fills for the first time
};

// The layout of a block's shared memory: barriers, the warps' sums of two groups of tiles, x, and the ring of weights.
// A group is as many tiles as the lanes of the warp that finishes them take together.
struct StreamShared {
  static constexpr uint32_t kHeaderBytes = 512;
  uint32_t chunks, m;
  bool has_8_bits;  // values of w, so that a chunk has twice as many, and of x twice the bytes

  constexpr uint32_t group() const { return m <= 2 ? 8 : 4; }
  // Returns the bytes of a tile's sums: for each warp, for each row of x, those of the tile's rows. The rest keeps the
  // banks of neighbouring tiles apart.
  constexpr uint32_t bytes_of_sums() const { return kStreamMultipliers * m * kStreamRows * 4 + kStreamRows * 4; }
  constexpr uint32_t bytes_of_all_sums() const { return 2 * group() * bytes_of_sums(); }
  constexpr uint32_t x_bytes_of_warp() const {
    const uint32_t own = (chunks + kStreamMultipliers - 1) / kStreamMultipliers;
    return own * m * kStreamChunkBytes * (has_8_bits ? 2 : 1);
  }
  constexpr uint32_t ring() const {
    const uint32_t before = kHeaderBytes + bytes_of_all_sums() + kStreamMultipliers * x_bytes_of_warp();
    return (before + kStreamChunkRows - 1) / kStreamChunkRows * kStreamChunkRows;
  }
  constexpr uint32_t bytes(uint32_t stages) const { return ring() + stages * kStreamStageBytes; }
};

}  // namespace rung::gpu
