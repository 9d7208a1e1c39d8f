// The configurations of the portable attention kernel, shared by host and device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/dtype.hpp"

namespace rung::gpu {

struct PortableAttentionConfig {
  static constexpr int kWarps = 4, kRows = 16;  // of a block; rows are packed query rows

  DType type;      // of queries
  DType key_type;  // of keys and values: the same, or f8e4m3fn, which stands for the machine's e4m3
  int width;       // of the kernel: 64, 128 or 256; heads are padded to it with zeros
  bool operator==(const PortableAttentionConfig&) const = default;

  static constexpr int threads(int lanes) { return kWarps * lanes; }
  // Returns the lanes that work on the same rows, each on its own key: a warp of 32, or a part of a wider one, whose
  // keys and values must fit in 64 KiB with the queries.
  constexpr int team(int lanes) const { return lanes > 32 && width > 128 ? 16 : 32; }
  constexpr int rows_of_team(int lanes) const { return kRows / (threads(lanes) / team(lanes)); }
  // Shared memory has a key and a value for each lane of a team, and all queries, in f32.
  constexpr uint32_t shared_bytes(int lanes) const {
    return static_cast<uint32_t>(sizeof(float)) * static_cast<uint32_t>(2 * team(lanes) * (width + 4) + kRows * width);
  }
};

}  // namespace rung::gpu
