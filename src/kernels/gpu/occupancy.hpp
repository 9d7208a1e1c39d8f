// How many blocks a machine runs at once, and how much shared memory each may have.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>

#include <cstdint>

#include "base/verdict.hpp"
#include "device/gpu/gpu_info.hpp"

namespace rung::gpu {

constexpr int64_t kPortableCluster = 8;  // blocks that a cluster may have on every machine with clusters

// Blocks with a multiprocessor each, in whole clusters.
inline int64_t blocks_at_once(const GpuInfo& gpu) { return gpu.multiprocessors / kPortableCluster * kPortableCluster; }

// Bytes of a multiprocessor's shared memory that the runtime keeps for each block that is there. A block that is alone
// may have the rest, shared_bytes_per_block.
constexpr uint32_t kReservedSharedBytes = 1024;

// The most that each of two blocks may have to share a multiprocessor.
inline uint32_t shared_bytes_of_two(const GpuInfo& gpu) {
  const auto alone = static_cast<uint32_t>(gpu.shared_bytes_per_block);
  return alone > kReservedSharedBytes ? (alone - kReservedSharedBytes) / 2 : 0;
}
// Two blocks that have this do not share a multiprocessor; one of a smaller kernel still may be there.
inline uint32_t shared_bytes_apart(const GpuInfo& gpu) { return shared_bytes_of_two(gpu) + 3 * 1024; }

inline Verdict supports_shared_bytes(uint32_t bytes, const GpuInfo& gpu) {
  if (bytes <= gpu.shared_bytes_per_block) return accept();
  return reject(
      fmt::format("a block takes {} bytes of shared memory, and may have {}", bytes, gpu.shared_bytes_per_block));
}

}  // namespace rung::gpu
