// Host memory that reaches a device that is not there, by way of pinned memory.
// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/staging.hpp"

#include <gmock/gmock.h>

#include <vector>

#include "support/fake_gpu.hpp"

namespace rung {
namespace {

std::vector<std::byte> pattern(size_t bytes, size_t seed) {
  std::vector<std::byte> data(bytes);
  for (size_t i = 0; i < bytes; ++i) data[i] = static_cast<std::byte>((i * 31 + i / 4096 + seed) % 251);
  return data;
}

TEST(Staging, BringsEveryByteToItsPlace) {
  auto card = testing::fake_gpu();
  std::vector<std::vector<std::byte>> data;
  std::vector<std::shared_ptr<gpu::Block>> blocks;
  std::vector<gpu::HostCopy> copies;
  for (size_t bytes : {size_t{1}, size_t{0}, size_t{100'000}, size_t{40'000'001}}) {
    data.push_back(pattern(bytes, data.size()));
    blocks.push_back(*card->allocate(bytes));
    copies.push_back({blocks.back()->address(), data.back().data(), bytes});
  }
  ASSERT_TRUE(gpu::upload_all(*card, copies));
  for (size_t i = 0; i < data.size(); ++i)
    EXPECT_EQ(std::memcmp(gpu::device_pointer(blocks[i]->address()), data[i].data(), data[i].size()), 0) << i;
}

// Bytes that are read when they are asked for come piece by piece, each from its own place.
TEST(Staging, ReadsEachPieceFromItsPlace) {
  auto card = testing::fake_gpu();
  const std::vector<std::byte> data = pattern(40'000'001, 0);
  auto block = *card->allocate(data.size());
  const ReadBytes read = [&](size_t at, void* to, size_t bytes) -> Status {
    std::memcpy(to, data.data() + at, bytes);
    return {};
  };
  ASSERT_TRUE(gpu::upload_all(*card, std::vector<gpu::HostCopy>{{block->address(), nullptr, data.size(), &read}}));
  EXPECT_EQ(std::memcmp(gpu::device_pointer(block->address()), data.data(), data.size()), 0);
}

TEST(Staging, DoesNothingForNoCopies) {
  auto card = testing::fake_gpu();
  EXPECT_TRUE(gpu::upload_all(*card, {}));
}

TEST(Staging, PassesOnTheDevicesError) {
  auto card = testing::fake_gpu();
  std::vector<std::byte> data = pattern(10'000'000, 0);
  auto block = *card->allocate(data.size());
  testing::fake_state().dead = true;
  auto done = gpu::upload_all(*card, std::vector<gpu::HostCopy>{{block->address(), data.data(), data.size()}});
  ASSERT_FALSE(done);
  EXPECT_TRUE(device_failed(done)) << done.error().message;
  EXPECT_THAT(done.error().message, ::testing::HasSubstr("a fault"));
}

}  // namespace
}  // namespace rung
