// Copies of several ranges in one launch: what is launched, and on a GPU every byte of them and none beside.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/copy/copy_ranges.hpp"

#include <gmock/gmock.h>

#include <random>

#include "device/gpu/current_context.hpp"
#include "device/gpu/pinned.hpp"
#include "kernels/target.hpp"
#include "support/device.hpp"
#include "support/fake_gpu.hpp"
#include "support/gpu_word.hpp"

namespace rung {
namespace {

using Bytes = std::vector<uint8_t>;

// Where a range lies in a block of memory, and where it goes in another.
struct Range {
  size_t from, to, bytes;
};
// Ends of units, of pieces and of blocks, at every alignment; the longest of a launch is not always its last.
std::vector<Range> ranges() {
  std::vector<Range> all;
  size_t at = 0;
  for (size_t bytes : {20000, 0, 1, 3, 8, 31, 64, 262144, 2048, 8192, 65536, 8193, 100004, 131072})
    for (size_t shift : {0, 1, 2, 4, 8, 16}) {
      all.push_back({at + shift, at + 2 * shift, bytes});
      at += (bytes + 3 * shift + 64) / 64 * 64;
    }
  return all;
}
size_t extent(const std::vector<Range>& all) { return all.back().from + all.back().bytes + 1024; }

Bytes random_bytes(size_t count) {
  std::mt19937 random(3);
  Bytes bytes(count);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  return bytes;
}

Bytes expected(const std::vector<Range>& all, const Bytes& from) {
  Bytes to(from.size(), 0xee);
  for (const Range& range : all) std::copy_n(&from[range.from], range.bytes, &to[range.to]);
  return to;
}

class CopyRanges : public ::testing::Test {
 protected:
  void open(std::shared_ptr<gpu::Gpu> gpu) {
    gpu_ = std::move(gpu);
    current_.emplace(*gpu_);
    queue_ = *gpu::Queue::make(*gpu_);
    auto made = gpu::RangeCopies::make(*gpu_);
    ASSERT_TRUE(made) << made.error().message;
    if (!*made) GTEST_SKIP() << "this build has no GPU kernels";
    copies_ = std::move(*made);
  }
  // All of them, by as many launches as they take.
  Bytes copied(const std::vector<Range>& all, gpu::Address from, gpu::Address to, size_t bytes) {
    EXPECT_TRUE(queue_->fill(to, 0xee, bytes));
    for (const Range& range : all) {
      if (copies_->full()) {
        EXPECT_TRUE(copies_->launch(queue_->stream()));
      }
      copies_->add(to + range.to, from + range.from, range.bytes);
    }
    EXPECT_TRUE(copies_->launch(queue_->stream()));
    Bytes result(bytes);
    EXPECT_TRUE(queue_->download(result.data(), to, bytes));
    return result;
  }
  std::shared_ptr<gpu::Gpu> gpu_;
  std::optional<gpu::CurrentContext> current_;
  std::unique_ptr<gpu::Queue> queue_;
  std::unique_ptr<gpu::RangeCopies> copies_;
};

TEST_F(CopyRanges, LaunchNothingWhereNothingIsToCopy) {
  open(testing::fake_gpu());
  if (IsSkipped()) return;
  ASSERT_TRUE(copies_->launch(queue_->stream()));
  copies_->add(256, 256, 0);
  ASSERT_TRUE(copies_->launch(queue_->stream()));
  uint8_t byte = 1, other = 2;
  copies_->add(gpu::address_of(&byte), gpu::address_of(&other), 1);
  copies_->clear();
  ASSERT_TRUE(copies_->launch(queue_->stream()));
  EXPECT_EQ(byte, 1) << "it was taken back";
  EXPECT_EQ(testing::fake_state().copy_launches, 0u);
}

TEST_F(CopyRanges, ArePassedToTheKernelAsTheyAre) {
  open(testing::fake_gpu());
  if (IsSkipped()) return;
  const auto all = ranges();
  Bytes from = random_bytes(extent(all)), to(from.size());
  EXPECT_EQ(copied(all, gpu::address_of(from.data()), gpu::address_of(to.data()), from.size()), expected(all, from));
  EXPECT_EQ(testing::fake_state().copied_ranges, all.size());
  EXPECT_EQ(testing::fake_state().copy_launches, (all.size() + gpu::kCopiedRanges - 1) / gpu::kCopiedRanges);
}

class GpuCopyRanges : public CopyRanges {
 protected:
  void SetUp() override {
    auto target = open_target(gpu_word());
    if (!target) GTEST_SKIP() << target.error().message;
    open((*target)->gpu);
  }
};

TEST_F(GpuCopyRanges, CopyExactlyTheirBytesOnTheDevice) {
  const auto all = ranges();
  const Bytes from = random_bytes(extent(all));
  auto source = *gpu_->allocate(from.size()), target = *gpu_->allocate(from.size());
  ASSERT_TRUE(queue_->upload(source->address(), from.data(), from.size()));
  EXPECT_TRUE(copied(all, source->address(), target->address(), from.size()) == expected(all, from));
}

TEST_F(GpuCopyRanges, CopyFromAndToPinnedHostMemory) {
  const auto all = ranges();
  const Bytes from = random_bytes(extent(all));
  auto source = *gpu::Pinned::make(*gpu_, from.size()), target = *gpu::Pinned::make(*gpu_, from.size());
  auto between = *gpu_->allocate(from.size());
  std::memcpy(source->data(), from.data(), from.size());
  const gpu::Address ends[] = {gpu::address_of(source->data()), gpu::address_of(target->data())};
  EXPECT_TRUE(copied(all, ends[0], between->address(), from.size()) == expected(all, from)) << "in";
  ASSERT_TRUE(queue_->upload(between->address(), from.data(), from.size()));
  EXPECT_TRUE(copied(all, between->address(), ends[1], from.size()) == expected(all, from)) << "out";
}

}  // namespace
}  // namespace rung
