// The configurations, the argument and the shared memory of the streaming linear kernels, shared by host and device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "device/gpu/tile_map.hpp"
#include "kernels/gpu/linear/linear_ends.hpp"

namespace rung::gpu {

constexpr uint32_t kStreamMultipliers = 8;                          // warps that share K
constexpr uint32_t kStreamThreads = (kStreamMultipliers + 2) * 32;  // and one that fetches, and one that finishes
constexpr uint32_t kStreamLanes = 32;
constexpr uint32_t kStreamTokens = 4;                                   // the most rows of x
constexpr uint32_t kStreamRows = 8;                                     // of w in a tile
constexpr uint32_t kStreamNormRun = kStreamRows;                        // columns whose squares share a mean
constexpr uint32_t kStreamChunkBytes = 128;                             // of each row, which a warp takes at a time
constexpr uint32_t kStreamChunks = 16;                                  // of a stage
constexpr uint32_t kStreamChunkRows = kStreamRows * kStreamChunkBytes;  // bytes of a chunk of all rows
constexpr uint32_t kStreamStageBytes = kStreamChunks * kStreamChunkRows;
constexpr uint32_t kStreamMostStages = 12;
constexpr uint32_t kStreamGroup = 32;  // columns of w with one scale; larger groups repeat theirs

// The end of a layer; each has its own kernels. Pairs are columns that are finished together.
enum class StreamEnd : uint8_t { any, gated, rotated, norm };

// A variant of the kernel: the types of x and w, the end, and whether columns of w have scales in groups. A w of u8 has
// numbers of 4 bits, and groups.
struct StreamConfig {
  DType x, w;
  StreamEnd end;
  bool grouped = false;
  bool operator==(const StreamConfig&) const = default;

  constexpr bool pairs() const { return end == StreamEnd::gated || end == StreamEnd::rotated; }
  constexpr bool has_4_bits() const { return w == DType::u8; }
  constexpr bool has_8_bits() const { return w == DType::f8e4m3fn || w == DType::i8; }
  constexpr bool widens() const { return has_4_bits() || has_8_bits(); }  // w, to f16
  // Returns the bytes of a row of x that a chunk multiplies, and those of its groups' scales, for all rows of a tile.
  constexpr uint32_t chunk_x() const { return kStreamChunkBytes * (has_4_bits() ? 4 : has_8_bits() ? 2 : 1); }
  constexpr uint32_t chunk_scales() const { return grouped ? kStreamRows * (chunk_x() / 2 / kStreamGroup) : 0; }
  // Returns the bytes of a stage's scales, and of its offsets behind them.
  constexpr uint32_t stage_scales() const { return kStreamChunks * chunk_scales(); }
  constexpr uint32_t stage_groups() const { return stage_scales() * (has_4_bits() ? 2 : 1); }
};

// Returns the first column of out of a tile. Columns and their partners are `half` rows of w apart; the upper halves of
// rotated heads before the tile are skipped.
constexpr uint32_t stream_column(const StreamConfig& config, uint32_t half, uint32_t tile) {
  const uint32_t column = tile * (kStreamRows / (config.pairs() ? 2 : 1));
  return config.end == StreamEnd::rotated ? column + column / half * half : column;
}
// Returns the row of w that is row `i` of a tile.
constexpr uint32_t stream_row(const StreamConfig& config, uint32_t half, uint32_t tile, uint32_t i) {
  constexpr uint32_t kPaired = kStreamRows / 2;
  const uint32_t column = stream_column(config, half, tile);
  return config.pairs() ? column + i % kPaired + i / kPaired * half : column + i;
}

// A lane's place in the products: a row of the tile, and a quarter of what the row's four lanes load together.
struct StreamLane {
  uint32_t row, quarter;

  // The lanes that load at a time, a quarter of a warp where each loads 16 bytes and half of it where it loads 8, have
  // rows four or two apart: the copy engine has exchanged the rows' units of 16 bytes so that no two lanes meet in a
  // bank.
  constexpr StreamLane(const StreamConfig& config, uint32_t lane)
      : row(config.grouped && config.has_8_bits() ? lane / 4 % 4 * 2 + lane / 16 : lane / 8 + lane / 4 % 2 * 4),
        quarter(lane % 4) {}
};

// A tile is kStreamRows rows of w, or half as many and their partners. A block takes a run of tiles one after another,
// and its warps share each tile's K.
struct LinearStreamArguments {
  TileMap w;  // boxes of a chunk's elements of 16 bits, the rows of a tile, their partners, and kStreamChunks chunks
  uint64_t x;
  LinearPrologue begin;
  LinearEpilogue end;                  // strides are multiples of 4
  uint32_t m, n;                       // n: a multiple of 4
  uint32_t chunks;                     // of K
  uint32_t room_chunks;                // for whose x a block has room, at least `chunks`
  uint32_t x_stride;                   // bytes from row to row; a multiple of 16
  uint32_t tiles;                      // of all blocks
  uint32_t stages;                     // of the ring of weights
  uint32_t throttle_ns;                // between two stages, while the ring fills for the first time
  uint64_t group_scale, group_offset;  // addresses, in the order of StreamOrder; 0: none
};

// The layout of a block's shared memory: barriers, the warps' sums of two groups of tiles, x, the ring of weights, and
// the ring of their groups' scales. A group of tiles is as many as the lanes of the warp that finishes them take
// together.
struct StreamShared {
  static constexpr uint32_t kHeaderBytes = 512;
  static constexpr uint32_t kTurnsAt = 256;  // of a barrier for each further layer of a launch, whose x is there
  uint32_t chunks, m;
  StreamConfig config;

  constexpr uint32_t group() const { return m <= 2 ? 8 : 4; }
  // Returns the bytes of a tile's sums: for each warp, for each row of x, those of the tile's rows. The rest keeps the
  // banks of neighbouring tiles apart.
  constexpr uint32_t bytes_of_sums() const { return kStreamMultipliers * m * kStreamRows * 4 + kStreamRows * 4; }
  constexpr uint32_t bytes_of_all_sums() const { return 2 * group() * bytes_of_sums(); }
  constexpr uint32_t x_bytes_of_warp() const {
    const uint32_t own = (chunks + kStreamMultipliers - 1) / kStreamMultipliers;
    return own * m * config.chunk_x();
  }
  constexpr uint32_t ring() const {
    const uint32_t before = kHeaderBytes + bytes_of_all_sums() + kStreamMultipliers * x_bytes_of_warp();
    return (before + kStreamChunkRows - 1) / kStreamChunkRows * kStreamChunkRows;
  }
  constexpr uint32_t stage_bytes() const { return kStreamStageBytes + config.stage_groups(); }
  constexpr uint32_t groups(uint32_t stages) const { return ring() + stages * kStreamStageBytes; }
  constexpr uint32_t bytes(uint32_t stages) const { return ring() + stages * stage_bytes(); }
};

}  // namespace rung::gpu
