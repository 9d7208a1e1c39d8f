// Empties the processor's caches, so that the next run finds its weights in memory, as a first one would.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rung {

// Size of the last-level cache as the system reports it; 32 MiB if it does not.
size_t last_cache_bytes();

class CacheEvictor {
 public:
  // `bytes`: what to walk; by default twice the last cache, at least 64 MiB.
  explicit CacheEvictor(size_t bytes = 0);
  // Reads one word of every line. The caches private to a core empty only on the core that calls: to be thorough, call
  // from every thread of the team (it may run on several at once). The sum keeps the reads from being optimised away.
  uint64_t evict() const;
  size_t bytes() const { return buffer_.size() * sizeof(uint64_t); }

 private:
  std::vector<uint64_t> buffer_;
};

}  // namespace rung
