// Shape of the split attention kernel's blocks, as the kernel is built and the host launches it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace rung::gpu {

// A cluster has 32 packed query rows and splits the keys evenly; a block holds all its keys at once.
struct SplitAttention {
  static constexpr int kBlocks = 8;  // of a cluster
  static constexpr int kRows = 32, kWidth = 256, kThreads = 256;
  static constexpr int kMaxKeys = 128;               // of a block
  static constexpr int kPitch = kWidth + 8;          // elements; 16 bytes more than the row spread it over the banks
  static constexpr int kWeightPitch = kMaxKeys + 8;  // elements

  // Of each block but the last ones: a multiple of 16.
  static constexpr int keys_of_block(int keys) { return (keys + kBlocks * 16 - 1) / (kBlocks * 16) * 16; }
  // Queries, weights, statistics, then keys and values; the block's sums later take the keys' place.
  static constexpr uint32_t kKeysAt = 2 * kRows * (kPitch + kWeightPitch) + 4 * (2 * 8 * kRows + 2 * kRows);
  static constexpr uint32_t shared_bytes(int keys) {
    const int tile = 2 * 2 * keys_of_block(keys) * kPitch, sums = 4 * kRows * kWidth;
    return kKeysAt + static_cast<uint32_t>(tile > sums ? tile : sums);
  }
};

}  // namespace rung::gpu
