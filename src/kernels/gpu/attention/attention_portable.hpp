// The configurations of the portable attention kernel, as it is built and the host launches it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/dtype.hpp"

namespace rung::gpu {

struct PortableAttentionConfig {
  static constexpr int kWarps = 4, kRows = 16;  // of a block; packed query rows

  DType type;
  int width;  // of the kernel: 64, 128 or 256; heads are padded to it with zeros
  bool operator==(const PortableAttentionConfig&) const = default;

  static constexpr int threads(int lanes) { return kWarps * lanes; }
  // Lanes that work on the same rows, each on a key of its own: a warp of 32, and a part of a wider one, whose keys and
  // values are to fit in 64 KiB with the queries.
  constexpr int team(int lanes) const { return lanes > 32 && width > 128 ? 16 : 32; }
  constexpr int rows_of_team(int lanes) const { return kRows / (threads(lanes) / team(lanes)); }
  // A key and a value for each lane of a team, all queries, in f32.
  constexpr uint32_t shared_bytes(int lanes) const {
    return static_cast<uint32_t>(sizeof(float)) * static_cast<uint32_t>(2 * team(lanes) * (width + 4) + kRows * width);
  }
};

}  // namespace rung::gpu
