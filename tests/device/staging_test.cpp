// Host memory that reaches a device that is not there, by way of pinned memory.
// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/staging.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <vector>

#include "support/counting_gpu.hpp"

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

constexpr size_t kPiece = size_t{8} << 20;

// Around the length of a piece, of several weights that have readers of their own; the bytes beside stay as they are.
TEST(Staging, CutsWeightsWhereverTheyEnd) {
  auto card = testing::fake_gpu();
  for (const size_t bytes : {kPiece - 1, kPiece, kPiece + 1, 2 * kPiece, 2 * kPiece + 1}) {
    const std::vector<std::byte> one = pattern(bytes, 1), two = pattern(bytes, 2), three = pattern(bytes, 3);
    std::atomic<size_t> read{0};
    const auto reader_of = [&read](const std::vector<std::byte>& data) -> ReadBytes {
      return [&read, &data](size_t at, void* to, size_t count) -> Status {
        if (count > kPiece || at + count > data.size()) return fail("{} bytes at {}", count, at);
        read += count;
        std::memcpy(to, data.data() + at, count);
        return {};
      };
    };
    const ReadBytes of_one = reader_of(one), of_two = reader_of(two), none;
    std::vector<std::shared_ptr<gpu::Block>> blocks;
    for (int i = 0; i < 3; ++i) {
      blocks.push_back(*card->allocate(bytes + 1));
      static_cast<std::byte*>(gpu::device_pointer(blocks.back()->address()))[bytes] = std::byte{0xee};
    }
    const Status done =
        gpu::upload_all(*card, std::vector<gpu::HostCopy>{{blocks[0]->address(), nullptr, bytes, &of_one},
                                                          {blocks[1]->address(), nullptr, bytes, &of_two},
                                                          {blocks[2]->address(), three.data(), bytes, &none}});
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(read, 2 * bytes) << "each byte once";
    const std::vector<std::byte>* wanted[] = {&one, &two, &three};
    for (size_t i = 0; i < 3; ++i) {
      const auto* got = static_cast<const std::byte*>(gpu::device_pointer(blocks[i]->address()));
      EXPECT_EQ(std::memcmp(got, wanted[i]->data(), bytes), 0) << bytes << " bytes, weight " << i;
      EXPECT_EQ(got[bytes], std::byte{0xee});
    }
  }
}

// Whichever piece it is that cannot be read; and all that was taken is given back.
TEST(Staging, PassesOnTheErrorOfEachPiecesReader) {
  constexpr size_t kPieces = 12;
  for (size_t bad = 0; bad < kPieces; ++bad) {
    auto card = testing::counting_gpu();
    auto block = *card->allocate(kPieces * kPiece);
    const ReadBytes read = [&](size_t at, void*, size_t) -> Status {
      return at / kPiece == bad ? Status(bad_file("piece {} is damaged", bad)) : Status{};
    };
    const auto done =
        gpu::upload_all(*card, std::vector<gpu::HostCopy>{{block->address(), nullptr, kPieces * kPiece, &read}});
    ASSERT_FALSE(done) << bad;
    EXPECT_EQ(done.error().kind, ErrorKind::file);
    EXPECT_EQ(done.error().message, fmt::format("piece {} is damaged", bad));
    block.reset(), card.reset();
    EXPECT_TRUE(testing::ledger().all_given_back()) << bad;
  }
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
