// Cache eviction by walking a buffer larger than the last cache.
// SPDX-License-Identifier: Apache-2.0
#include "measure/cache.hpp"

#include <unistd.h>

#include <algorithm>

namespace rung {

size_t last_cache_bytes() {
  long bytes = std::max(sysconf(_SC_LEVEL3_CACHE_SIZE), sysconf(_SC_LEVEL2_CACHE_SIZE));
  return bytes > 0 ? static_cast<size_t>(bytes) : size_t{32} << 20;
}

CacheEvictor::CacheEvictor(size_t bytes) {
  if (bytes == 0) bytes = std::max(2 * last_cache_bytes(), size_t{64} << 20);
  buffer_.resize(bytes / sizeof(uint64_t));
  for (size_t i = 0; i < buffer_.size(); ++i) buffer_[i] = i;  // real pages: untouched ones all share one
}

uint64_t CacheEvictor::evict() const {
  constexpr size_t kLine = 64 / sizeof(uint64_t);
  const volatile uint64_t* words = buffer_.data();
  uint64_t sum = 0;
  for (size_t i = 0; i < buffer_.size(); i += kLine) sum += words[i];
  return sum;
}

}  // namespace rung
