// Allocates and releases pinned memory.
// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/pinned.hpp"

#include <cstring>

#include "device/gpu/current_context.hpp"

namespace rung::gpu {

Result<std::unique_ptr<Pinned>> Pinned::make(Gpu& gpu, size_t bytes) {
  const CurrentContext current(gpu);
  void* data = nullptr;
  RUNG_CHECK(gpu.check(gpu.runtime().allocate_pinned(&data, bytes == 0 ? 1 : bytes),
                       fmt::format("allocating {} bytes of pinned memory", bytes)));
  std::unique_ptr<Pinned> made(new Pinned(gpu.shared_from_this(), data));
  std::memset(data, 0, bytes);
  return made;
}

Pinned::~Pinned() {
  const CurrentContext current(*gpu_);
  gpu_->runtime().release_pinned(data_);
}

}  // namespace rung::gpu
