// Blocks of memory: aligned, zero, readable a vector past their end, and nobody else's.
// SPDX-License-Identifier: Apache-2.0
#include "base/big_block.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace rung {
namespace {

constexpr size_t kVector = 64;

bool holds(const std::byte* data, size_t bytes, std::byte value) {
  return std::all_of(data, data + bytes, [&](std::byte b) { return b == value; });
}

TEST(BigBlock, IsAlignedAndZero) {
  for (size_t bytes : {size_t{1}, size_t{63}, size_t{65}, size_t{100'000}, size_t{5'000'001}, size_t{9'000'000}}) {
    auto block = allocate_block(bytes);
    ASSERT_TRUE(block) << bytes;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block.get()) % kVector, 0u) << bytes;
    EXPECT_TRUE(holds(block.get(), bytes, std::byte{0})) << bytes;
  }
}

TEST(BigBlock, BelongsToOneOwner) {
  std::vector<std::pair<std::shared_ptr<std::byte>, size_t>> blocks;
  size_t total = 0;
  for (size_t i = 0; total < (size_t{24} << 20); ++i) {  // through several slabs
    size_t bytes = 1 + i * 7919 % 700'000;
    blocks.emplace_back(allocate_block(bytes), bytes);
    ASSERT_EQ(reinterpret_cast<uintptr_t>(blocks.back().first.get()) % kVector, 0u) << i;
    ASSERT_TRUE(holds(blocks.back().first.get(), bytes, std::byte{0})) << i;
    std::memset(blocks.back().first.get(), static_cast<int>(i % 255 + 1), bytes);
    total += bytes;
  }
  for (size_t i = 0; i < blocks.size(); ++i)
    EXPECT_TRUE(holds(blocks[i].first.get(), blocks[i].second, static_cast<std::byte>(i % 255 + 1))) << i;
}

TEST(BigBlock, OutlivesItsNeighbours) {
  auto first = allocate_block(1000), second = allocate_block(1000);
  std::memset(second.get(), 7, 1000);
  first.reset();
  EXPECT_TRUE(holds(second.get(), 1000, std::byte{7}));
}

}  // namespace
}  // namespace rung
