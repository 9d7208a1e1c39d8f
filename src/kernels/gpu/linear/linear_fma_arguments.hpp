// The argument of the f32 linear kernels and the cut of the work that it describes, shared by host and device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/linear/linear_ends.hpp"

namespace rung::gpu {

constexpr uint32_t kFmaLeastDepthBits = 5, kFmaMostDepthBits = 7;

// The tile of one block, and the place of its lanes: each takes `rows` tokens by 8 columns, and `column_warps` warps
// have neighbouring columns; the others share K. `lanes` is the number of lanes of a warp.
struct FmaTile {
  uint32_t rows, column_warps;
  bool operator==(const FmaTile&) const = default;

  constexpr bool is_tall() const { return rows > 8; }
  constexpr uint32_t token_lanes() const { return is_tall() ? 4 : 8; }
  constexpr uint32_t threads() const { return is_tall() ? 128 : 256; }
  constexpr uint32_t warp_columns(uint32_t lanes) const { return lanes / token_lanes() * 8; }
  constexpr uint32_t tokens() const { return token_lanes() * rows; }
  constexpr uint32_t columns(uint32_t lanes) const { return warp_columns(lanes) * column_warps; }
  constexpr uint32_t parts(uint32_t lanes) const { return threads() / lanes / column_warps; }
};

// The products are x w' in f32; the blocks of a cluster share K.
struct LinearFmaArguments {
  uint64_t x = 0, w = 0;            // addresses; rows of w are dense
  int64_t x_stride = 0;             // elements; a multiple of 4
  LinearEpilogue end;               // no pairs; strides are multiples of 4
  uint32_t m = 0, n = 0, k = 0;     // n and k: multiples of 4
  uint32_t depth_bits = 0;          // a chunk of K is 2^depth_bits columns of x and w
  uint32_t chunks = 0, stages = 0;  // of all K; chunks in shared memory
  uint32_t split_bits = 0;          // 2^split_bits blocks are a cluster
};

// The shared memory of a block has the chunks under way, whose place its warps' sums take at the end; the sums that the
// blocks of its cluster send; and a barrier.
struct FmaShared {
  FmaTile tile;
  uint32_t lanes, depth, stages, split;

  // Returns the floats from one row to the next, a pitch that keeps the banks apart.
  static constexpr uint32_t pitch(uint32_t columns) { return columns + 4; }
  constexpr uint32_t ring_floats() const {
    const uint32_t sums = tile.parts(lanes) * tile.tokens() * pitch(tile.columns(lanes));
    const uint32_t ring = stages * (tile.tokens() + tile.columns(lanes)) * pitch(depth);
    return ring > sums ? ring : sums;
  }
  constexpr uint32_t inbox_floats() const {
    return split == 1 ? 0 : (tile.tokens() + split - 1) / split * split * tile.columns(lanes);
  }
  constexpr uint32_t bytes() const { return (ring_floats() + inbox_floats()) * 4 + 16; }
};

}  // namespace rung::gpu
