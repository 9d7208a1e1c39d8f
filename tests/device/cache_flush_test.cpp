// Flushed memory is cold, and holds what it held.
// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/cache_flush.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <random>
#include <vector>

namespace rung::cpu {
namespace {

constexpr size_t kLines = 2048;  // 128 KiB: stays in a second-level cache

struct alignas(64) Line {
  size_t next = 0;
};

class CacheFlush : public ::testing::Test {
 protected:
  // A cycle through all lines in an order that no prefetcher guesses.
  CacheFlush() {
    std::vector<size_t> order(kLines);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), std::mt19937(1));
    for (size_t i = 0; i < kLines; ++i) lines_[order[i]].next = order[(i + 1) % kLines];
  }
  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(lines_)); }

  size_t walk() const {
    size_t at = 0, steps = 0;
    do at = lines_[at].next, ++steps;
    while (at != 0);
    return steps;
  }

  // Seconds to walk the cycle, the best of some trials; `prepare` runs before each.
  template <class F>
  double walk_seconds(F&& prepare) {
    using Clock = std::chrono::steady_clock;
    double best = 1e9;
    for (int trial = 0; trial < 50; ++trial) {
      prepare();
      auto start = Clock::now();
      EXPECT_EQ(walk(), kLines);
      best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
    }
    return best;
  }
  std::vector<Line> lines_ = std::vector<Line>(kLines);
};

TEST_F(CacheFlush, MakesTheNextReadSlow) {
  double warm = walk_seconds([] {});
  EXPECT_GT(walk_seconds([&] { flush_from_caches(bytes()); }), 2 * warm);
}

TEST_F(CacheFlush, OfATeamCoversAllOfIt) {
  Team team(2);
  double warm = walk_seconds([] {});
  EXPECT_GT(walk_seconds([&] { flush_from_caches(team, bytes()); }), 2 * warm);
}

TEST_F(CacheFlush, TakesAnyRange) {
  flush_from_caches({});
  for (size_t length : {1, 63, 64, 65}) flush_from_caches(bytes().subspan(7, length));
  EXPECT_EQ(walk(), kLines);
}

}  // namespace
}  // namespace rung::cpu
