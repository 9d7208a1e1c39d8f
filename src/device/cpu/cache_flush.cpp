// Flushes line by line with the instruction that every x86-64 processor has.
// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/cache_flush.hpp"

#include <immintrin.h>

namespace rung::cpu {

void flush_from_caches(std::span<const std::byte> memory) {
  constexpr size_t kLine = 64;
  if (memory.empty()) return;
  for (size_t at = 0; at < memory.size(); at += kLine) _mm_clflush(memory.data() + at);
  _mm_clflush(memory.data() + memory.size() - 1);  // the last line, in case no step began in it
  _mm_mfence();
}

void flush_from_caches(Team& team, std::span<const std::byte> memory) {
  constexpr int64_t kGrain = 4096;
  const int parts = 4 * team.size();
  team.run(parts, [&](int part, int) {
    Range mine = share(static_cast<int64_t>(memory.size()), part, parts, kGrain);
    flush_from_caches(memory.subspan(static_cast<size_t>(mine.begin), static_cast<size_t>(mine.end - mine.begin)));
  });
}

}  // namespace rung::cpu
