// A device's context on the threads that use it, and on those of a host that has another: on devices that are not
// there.
// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/current_context.hpp"

#include <gmock/gmock.h>

#include <thread>

#include "device/gpu/staging.hpp"
#include "support/fake_gpu.hpp"

namespace rung {
namespace {

using testing::fake_state;

void elsewhere(const std::function<void()>& body) { std::thread(body).join(); }

class CurrentContext : public ::testing::Test {
 protected:
  void TearDown() override { EXPECT_EQ(fake_state().refused, 0u); }
  std::shared_ptr<gpu::Gpu> gpu_ = testing::fake_gpu();
  std::unique_ptr<gpu::Queue> queue_ = *gpu::Queue::make(*gpu_);
};

TEST_F(CurrentContext, IsTheDevicesOnEveryThreadUsingIt) {
  std::shared_ptr<gpu::Block> block;
  int64_t value = 5, back = 0;
  elsewhere([&] { block = *gpu_->allocate(8); });
  elsewhere([&] { EXPECT_TRUE(queue_->upload(block->address(), &value, 8)); });
  elsewhere([&] { EXPECT_TRUE(queue_->download(&back, block->address(), 8)); });
  EXPECT_EQ(back, 5);
  elsewhere([&] { EXPECT_TRUE(queue_->fill(block->address(), 0, 8)); });
  elsewhere([&] { EXPECT_TRUE(queue_->copy(block->address(), block->address(), 0)); });
  elsewhere([&] { EXPECT_TRUE(queue_->wait()); });
  elsewhere([&] { EXPECT_TRUE(gpu_->memory()); });
  elsewhere([&] { EXPECT_TRUE(gpu_->check_free(1)); });
  elsewhere([&] { EXPECT_TRUE(gpu::upload_all(*gpu_, std::vector<gpu::HostCopy>{{block->address(), &value, 8}})); });
  elsewhere([&] { block.reset(); });
  elsewhere([&] { queue_.reset(); });
  elsewhere([&] { EXPECT_TRUE(gpu::Queue::make(*gpu_)); });
  elsewhere([&] { gpu_.reset(); });
}

TEST_F(CurrentContext, GivesAHostItsOwnBack) {
  auto block = *gpu_->allocate(8);
  int64_t value = 5;
  elsewhere([&] {
    auto of_host = *gpu::Gpu::open(testing::fake_runtime(), 0);
    testing::fake::context_use(of_host->context());
    EXPECT_TRUE(queue_->upload(block->address(), &value, 8));
    EXPECT_EQ(testing::fake::current, of_host->context());
    {
      const gpu::CurrentContext current(*gpu_);
      EXPECT_EQ(testing::fake::current, gpu_->context());
      EXPECT_TRUE(queue_->wait());
      EXPECT_EQ(testing::fake::current, gpu_->context()) << "a nested one leaves it";
    }
    EXPECT_EQ(testing::fake::current, of_host->context());
    block.reset();
    EXPECT_EQ(testing::fake::current, of_host->context());
  });
}

TEST_F(CurrentContext, StaysWhereThereWasNone) {
  elsewhere([&] {
    EXPECT_TRUE(queue_->wait());
    EXPECT_EQ(testing::fake::current, gpu_->context());
  });
}

TEST_F(CurrentContext, OfOneDeviceIsNotThatOfAnother) {
  auto other = *gpu::Gpu::open(testing::fake_runtime(), 0);
  auto queue = *gpu::Queue::make(*other);
  EXPECT_TRUE(queue->wait());
  EXPECT_TRUE(queue_->wait());
  EXPECT_TRUE(queue->wait());
}

TEST(Chores, AreCountedForEveryThread) {
  auto gpu = testing::fake_gpu();
  auto queue = *gpu::Queue::make(*gpu);
  const auto wait = static_cast<size_t>(gpu::Chore::wait);
  const int before = gpu::Gpu::chores_of_this_thread()[wait];
  EXPECT_TRUE(queue->wait());
  elsewhere([&] {
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(queue->wait());
    EXPECT_EQ(gpu::Gpu::chores_of_this_thread()[wait], 3);
  });
  EXPECT_EQ(gpu::Gpu::chores_of_this_thread()[wait], before + 1);
  EXPECT_EQ(gpu->chores()[wait], 4);
}

}  // namespace
}  // namespace rung
