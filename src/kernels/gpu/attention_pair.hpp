// Shape of the attention kernel's blocks in which two warpgroups split the keys, as the kernel is built and the host
// launches it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace rung::gpu {

// A block has 64 packed query rows; each of its two warpgroups takes every other run of 48 keys.
struct PairAttention {
  static constexpr int kGroups = 2, kThreads = 128 * kGroups;
  static constexpr int kRows = 64, kKeys = 48, kWidth = 256;
  static constexpr int kPanels = kWidth / 64;
  static constexpr uint32_t kQueryBytes = 2 * kRows * kWidth;
  static constexpr uint32_t kTileBytes = 2 * kKeys * kWidth;  // of keys or values
  // Queries, then of each warpgroup two tiles of keys and two of values.
  static constexpr uint32_t kSharedBytes = kQueryBytes + kGroups * 4 * kTileBytes;
};

}  // namespace rung::gpu
