// The configurations of the matrix-instruction attention kernel, shared by host and device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/dtype.hpp"

namespace rung::gpu {

// A block has 16 query rows for each of `row_warps`; each of `key_warps` takes every key_warps-th run of keys.
struct MmaAttentionConfig {
  DType type;      // of queries and results
  DType key_type;  // of keys and values: the same, or f8e4m3fn, which stands for the machine's e4m3
  int width;       // of the kernel: 32, 64, 80, 128 or 256; heads are padded to it with zeros
  int row_warps, key_warps;
  bool operator==(const MmaAttentionConfig&) const = default;

  constexpr int rows() const { return 16 * row_warps; }
  constexpr int threads(int lanes) const { return lanes * row_warps * key_warps; }
  // Returns the keys, of all key warps, in one of the two stages in shared memory.
  constexpr int keys() const {
    if (width == 256) return key_warps == 1 ? 32 : 64;
    return key_warps == 4 && width < 128 ? 128 : 64;
  }
  // Returns the elements from row to row: 16 bytes more than the row, so that eight rows meet no bank twice.
  constexpr int pitch() const { return width + 8; }
  constexpr uint32_t tile_bytes() const { return static_cast<uint32_t>(2 * (rows() + 4 * keys()) * pitch()); }
  // The key warps' sums in f32, with each row's largest score and sum, take the place of the tiles.
  constexpr uint32_t sums_bytes() const {
    return key_warps == 1 ? 0 : static_cast<uint32_t>(4 * key_warps * rows() * (pitch() + 2));
  }
  constexpr uint32_t shared_bytes() const { return tile_bytes() > sums_bytes() ? tile_bytes() : sums_bytes(); }
};

}  // namespace rung::gpu
