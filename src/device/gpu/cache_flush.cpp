// Fills scratch memory larger than the cache: its lines take the place of all others.
// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/cache_flush.hpp"

#include <algorithm>

namespace rung::gpu {

Result<CacheFlush> CacheFlush::make(Gpu& gpu) {
  // Twice the cache, as it need not give up its oldest lines first; if its size is not known, more than any has.
  constexpr size_t kUnknown = size_t{256} << 20;
  // An emulator has no cache.
  const size_t cache = gpu.info().counts_instructions ? 1 : gpu.info().l2_bytes;
  RUNG_TRY(auto block, gpu.allocate(cache > 0 ? 2 * cache : kUnknown));
  RUNG_TRY(auto queue, Queue::make(gpu));
  return CacheFlush(std::move(queue), std::move(block));
}

Status CacheFlush::run() {
  RUNG_CHECK(queue_->fill(block_->address(), 0, block_->bytes()));
  return queue_->wait();
}

}  // namespace rung::gpu
