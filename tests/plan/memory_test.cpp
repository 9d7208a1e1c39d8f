// The memory planner on random lifetimes.
// SPDX-License-Identifier: Apache-2.0
#include "plan/memory.hpp"

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace rung {
namespace {

std::vector<Buffer> random_buffers(uint64_t seed, uint32_t steps) {
  std::vector<Buffer> buffers(200);
  for (uint64_t i = 0; i < buffers.size(); ++i) {
    uint64_t bits = random_bits(seed, i);
    buffers[i].bytes = 1 + bits % 5000;
    buffers[i].first_step = static_cast<uint32_t>(bits >> 20) % steps;
    buffers[i].last_step = std::min(steps, buffers[i].first_step + static_cast<uint32_t>(bits >> 50) % 20);
  }
  return buffers;
}

bool alive_together(const Buffer& a, const Buffer& b) {
  return a.first_step <= b.last_step && b.first_step <= a.last_step;
}
bool overlap(const Buffer& a, const Buffer& b) {
  return a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

class MemoryPlan : public ::testing::TestWithParam<uint32_t> {};

TEST_P(MemoryPlan, NeverOverlapsBuffersAliveTogether) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    auto buffers = random_buffers(seed, GetParam());
    uint64_t arena = plan_memory(buffers);
    for (const Buffer& a : buffers) {
      EXPECT_EQ(a.offset % 64, 0u);
      EXPECT_LE(a.offset + a.bytes, arena);
      for (const Buffer& b : buffers) {
        bool clash = &a != &b && alive_together(a, b) && overlap(a, b);
        ASSERT_FALSE(clash) << "seed " << seed;
      }
    }
  }
}

TEST_P(MemoryPlan, SharesAddresses) {
  auto buffers = random_buffers(1, GetParam());
  uint64_t total = 0;
  for (const Buffer& b : buffers) total += (b.bytes + 63) / 64 * 64;
  EXPECT_LT(plan_memory(buffers), GetParam() > 100 ? total / 4 : total);
}

INSTANTIATE_TEST_SUITE_P(Steps, MemoryPlan, ::testing::Values(40u, 1000u, 30000u));

// The third fits exactly where the first was, below the second.
TEST(MemoryPlan, FillsAGapToItsLastByte) {
  std::vector<Buffer> buffers{{0, 1024, 0, 1}, {0, 1024, 1, 2}, {0, 1024, 2, 3}};
  EXPECT_EQ(plan_memory(buffers), 2048u);
  EXPECT_EQ(buffers[2].offset, buffers[0].offset);
  buffers = {{0, 1024, 0, 1}, {0, 1023, 1, 2}, {0, 1, 2, 3}, {0, 700, 2, 3}};
  EXPECT_EQ(plan_memory(buffers), 2048u) << "two share the first one's place";
  EXPECT_EQ(buffers[3].offset, 0u);
  EXPECT_EQ(buffers[2].offset, 768u) << "the next multiple of 256";
}

TEST(MemoryPlan, KeepsApartWhatMeetsInOneStep) {
  std::vector<Buffer> buffers{{0, 256, 0, 1}, {0, 256, 1, 2}};
  EXPECT_EQ(plan_memory(buffers), 512u);
  buffers = {{0, 256, 0, 0}, {0, 256, 1, 2}};
  EXPECT_EQ(plan_memory(buffers), 256u);
}

TEST(MemoryPlan, OfNothingIsNothing) {
  std::vector<Buffer> none;
  EXPECT_EQ(plan_memory(none), 0u);
}

}  // namespace
}  // namespace rung
