// Copies host memory to the device by way of pinned memory, which the device reads by itself: the system does not move
// it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>

#include "base/read_bytes.hpp"
#include "device/gpu/gpu.hpp"

namespace rung::gpu {

struct HostCopy {
  Address to = 0;
  const void* from = nullptr;
  size_t bytes = 0;
  const ReadBytes* read = nullptr;  // if set, it gives the bytes, and `from` is not touched
};

// Is complete on return. Several threads copy pieces into pinned memory while others are on the bus. Errors: those of
// the device and of reading; no pinned memory.
Status upload_all(Gpu& gpu, std::span<const HostCopy> copies);

}  // namespace rung::gpu
