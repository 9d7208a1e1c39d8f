// Drops everything from a GPU's second-level cache, so that a run finds weights and buffers in its memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "device/gpu/gpu.hpp"

namespace rung::gpu {

class CacheFlush {
 public:
  // With device memory of its own, twice as much as the cache holds. Errors: that is not free.
  static Result<CacheFlush> make(Gpu& gpu);
  // Writes all of that memory, and waits until it is done.
  Status run();

 private:
  CacheFlush(Gpu& gpu, std::shared_ptr<Block> block) : gpu_(&gpu), block_(std::move(block)) {}
  Gpu* gpu_;
  std::shared_ptr<Block> block_;
};

}  // namespace rung::gpu
