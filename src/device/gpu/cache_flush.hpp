// Drops everything from a GPU's second-level cache, so that a run reads weights and buffers from memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "device/gpu/queue.hpp"

namespace rung::gpu {

class CacheFlush {
 public:
  // Makes a queue, and takes device memory of twice the cache's size. Errors: that much is not free.
  static Result<CacheFlush> make(Gpu& gpu);
  // Writes all of that memory, and waits until that is done.
  Status run();

 private:
  CacheFlush(std::unique_ptr<Queue> queue, std::shared_ptr<Block> block)
      : queue_(std::move(queue)), block_(std::move(block)) {}
  std::unique_ptr<Queue> queue_;
  std::shared_ptr<Block> block_;
};

}  // namespace rung::gpu
