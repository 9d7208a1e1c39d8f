// Allocations: bounds, written bytes, what is lent.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/run/memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

namespace rung::amdgpu {
namespace {

TEST(EmulatedMemory, FindsAnAllocationOrPartsButNothingBeyond) {
  Memory memory;
  const uint64_t at = *memory.allocate(1000), other = *memory.allocate(1);
  EXPECT_EQ(at % 256, 0u);
  EXPECT_TRUE(memory.find(at, 1000));
  EXPECT_TRUE(memory.find(at + 999, 1));
  EXPECT_FALSE(memory.find(at + 999, 2));
  EXPECT_FALSE(memory.find(at + 1000, 1));
  EXPECT_FALSE(memory.find(at - 1, 2));
  EXPECT_FALSE(memory.find(at, SIZE_MAX));
  EXPECT_FALSE(memory.find(0, 1));
  EXPECT_TRUE(memory.find(other, 1));
  EXPECT_EQ(memory.used(), 1001u);
  EXPECT_TRUE(memory.release(at));
  EXPECT_FALSE(memory.release(at));
  EXPECT_FALSE(memory.find(at, 1));
  EXPECT_EQ(memory.used(), 1u);
}

TEST(EmulatedMemory, NothingOfAnybodysIsNextToAnAllocation) {
  Memory memory;
  std::vector<uint64_t> all;
  for (int i = 0; i < 8; ++i) all.push_back(*memory.allocate(4096));
  for (uint64_t at : all)
    for (uint64_t step : {1, 16, 4096, 32768}) {
      EXPECT_FALSE(memory.find(at - step, 1));
      EXPECT_FALSE(memory.find(at + 4096 + step - 1, 1));
    }
}

TEST(EmulatedMemory, EveryByteRemembersWhetherItWasWritten) {
  Memory memory;
  const uint64_t at = *memory.allocate(64);
  EXPECT_FALSE(memory.is_written(at, 1));
  memory.mark_written(at + 3, 7);
  EXPECT_TRUE(memory.is_written(at + 3, 7));
  EXPECT_FALSE(memory.is_written(at + 2, 2));
  EXPECT_FALSE(memory.is_written(at + 9, 2));
  memory.mark_written(at + 8, 24);
  EXPECT_TRUE(memory.is_written(at + 3, 29));
  EXPECT_FALSE(memory.is_written(at + 3, 30));
  EXPECT_FALSE(memory.is_written(at + 60, 8));  // ends behind it
}

// Ranges of all lengths at all places in words of bits, marked and unmarked, beside a flag for each byte.
TEST(EmulatedMemory, BytesAreMarkedAndUnmarkedOneByOne) {
  constexpr size_t kBytes = 320;
  Memory memory;
  const uint64_t at = *memory.allocate(kBytes);
  const Region& region = *memory.find(at, kBytes);
  std::vector<bool> written(kBytes);
  std::mt19937 random(1);
  for (int round = 0; round < 4000; ++round) {
    const size_t begin = random() % kBytes, unit = round % 3 == 0 ? 64 : 1;
    const size_t first = begin / unit * unit, count = std::min(kBytes - first, (random() % 140 / unit + 1) * unit);
    const bool marks = random() % 2 == 0;
    marks ? region.mark(at + first, count) : region.unmark(at + first, count);
    std::fill_n(written.begin() + static_cast<std::ptrdiff_t>(first), count, marks);
    for (size_t n = 0; n < kBytes; ++n) ASSERT_EQ(region.all_written(at + n, 1), written[n]) << round << ", byte " << n;
    const auto from = written.begin() + static_cast<std::ptrdiff_t>(begin);
    const size_t run = static_cast<size_t>(std::find(from, written.end(), false) - from);
    ASSERT_TRUE(memory.is_written(at + begin, run));
    if (begin + run < kBytes) {
      ASSERT_FALSE(memory.is_written(at + begin, run + 1));
    }
  }
}

TEST(EmulatedMemory, ThreadsMarkNeighbouringBytes) {
  Memory memory;
  const uint64_t at = *memory.allocate(4096);
  std::vector<std::thread> threads;
  for (uint64_t thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      for (uint64_t i = thread; i < 4096; i += 4) memory.mark_written(at + i, 1);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(memory.is_written(at, 4096));
}

TEST(EmulatedMemory, TakesLentMemoryAsWrittenWithoutFreeingIt) {
  Memory memory;
  std::vector<std::byte> own(100);
  memory.lend(own.data(), own.size(), false);
  const auto at = reinterpret_cast<uint64_t>(own.data());
  ASSERT_TRUE(memory.find(at, 100));
  EXPECT_FALSE(memory.find(at, 100)->writable);
  EXPECT_TRUE(memory.is_written(at, 100));
  EXPECT_FALSE(memory.release(at));
  EXPECT_TRUE(memory.forget(own.data()));
  EXPECT_FALSE(memory.find(at, 1));
}

TEST(EmulatedMemory, RefusesMoreThanIsFreeNamingBothAmounts) {
  Memory memory;
  auto got = memory.allocate(Memory::total() + 1);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().kind, ErrorKind::memory);
  EXPECT_EQ(got.error().message,
            fmt::format("wanted {} bytes, {} of {} are free", Memory::total() + 1, Memory::total(), Memory::total()));
  EXPECT_FALSE(memory.allocate(SIZE_MAX));
  // Memory that is taken already is not free.
  const uint64_t taken = *memory.allocate(4096);
  got = memory.allocate(Memory::total() - 4095);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().message, fmt::format("wanted {} bytes, {} of {} are free", Memory::total() - 4095,
                                             Memory::total() - 4096, Memory::total()));
  EXPECT_TRUE(memory.release(taken));
  EXPECT_EQ(memory.used(), 0u);
}

// Who asks for one thing is not given the other, and no begin of one is within another.
TEST(EmulatedMemory, FreesAndForgetsPlacesOnlyAtTheirBegin) {
  Memory memory;
  std::vector<std::byte> own(100);
  const uint64_t at = *memory.allocate(100);
  EXPECT_FALSE(memory.forget(reinterpret_cast<const std::byte*>(at)));
  EXPECT_FALSE(memory.release(at + 1));
  EXPECT_TRUE(memory.find(at, 100));
  memory.lend(own.data(), 50, false);
  memory.lend(own.data(), 100, true);  // again: what was said last holds
  const auto lent = reinterpret_cast<uint64_t>(own.data());
  ASSERT_TRUE(memory.find(lent, 100));
  EXPECT_TRUE(memory.find(lent, 100)->writable);
  EXPECT_FALSE(memory.forget(own.data() + 1));
  EXPECT_EQ(memory.used(), 100u) << "what is lent is not the device's";
  EXPECT_TRUE(memory.forget(own.data()));
  EXPECT_FALSE(memory.forget(own.data()));
}

}  // namespace
}  // namespace rung::amdgpu
