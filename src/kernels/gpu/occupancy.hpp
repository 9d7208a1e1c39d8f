// The number of blocks that a machine runs at once, and the shared memory that each may have.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "base/verdict.hpp"
#include "device/gpu/gpu_info.hpp"

namespace rung::gpu {

constexpr int64_t kPortableCluster = 8;  // blocks that a cluster may have on every machine with clusters

// Returns the blocks that have a multiprocessor each, in whole clusters.
inline int64_t blocks_at_once(const GpuInfo& gpu) { return gpu.multiprocessors / kPortableCluster * kPortableCluster; }

// The bytes of a multiprocessor's shared memory that the runtime keeps for each resident block. A block that is alone
// may have the rest, shared_bytes_per_block.
constexpr uint32_t kReservedSharedBytes = 1024;

// Returns the most bytes that each of two blocks may have to share a multiprocessor.
inline uint32_t shared_bytes_of_two(const GpuInfo& gpu) {
  const auto alone = static_cast<uint32_t>(gpu.shared_bytes_per_block);
  return alone > kReservedSharedBytes ? (alone - kReservedSharedBytes) / 2 : 0;
}
// Returns bytes with which two blocks do not share a multiprocessor; a block of a smaller kernel still may share it.
inline uint32_t shared_bytes_apart(const GpuInfo& gpu) { return shared_bytes_of_two(gpu) + 3 * 1024; }

// Returns the most bytes that a block may have beside one of `other` bytes.
inline uint32_t shared_bytes_beside(const GpuInfo& gpu, uint32_t other) {
  const auto alone = static_cast<uint32_t>(gpu.shared_bytes_per_block);
  return alone - std::min(alone, other + kReservedSharedBytes);
}

inline Verdict supports_shared_bytes(uint32_t bytes, const GpuInfo& gpu) {
  if (bytes <= gpu.shared_bytes_per_block) return accept();
  return reject(
      fmt::format("a block takes {} bytes of shared memory, and may have {}", bytes, gpu.shared_bytes_per_block));
}

}  // namespace rung::gpu
