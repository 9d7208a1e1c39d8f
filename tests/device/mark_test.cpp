// Order between streams, and pinned memory, on a device that is not there and does nothing until someone waits for it.
// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/mark.hpp"

#include <gmock/gmock.h>

#include <thread>

#include "device/gpu/current_context.hpp"
#include "device/gpu/pinned.hpp"
#include "device/gpu/timed_graph.hpp"
#include "support/counting_gpu.hpp"

namespace rung {
namespace {

using testing::fake_state;

class Mark : public ::testing::Test {
 protected:
  void SetUp() override { fake_state().lazy = true; }
  void TearDown() override { fake_state().lazy = false; }
  void launch_into(const gpu::Queue& queue) { EXPECT_EQ(testing::fake::submit(queue.stream(), {}), 0); }

  std::shared_ptr<gpu::Gpu> gpu_ = testing::fake_gpu();
  const gpu::CurrentContext current_{*gpu_};
  std::unique_ptr<gpu::Queue> one_ = *gpu::Queue::make(*gpu_), other_ = *gpu::Queue::make(*gpu_);
  std::unique_ptr<gpu::Mark> mark_ = *gpu::Mark::make(*gpu_);
};

TEST_F(Mark, HoldsBackAnotherStream) {
  launch_into(*one_);
  ASSERT_TRUE(mark_->set(one_->stream()));
  launch_into(*one_);
  launch_into(*other_);
  ASSERT_TRUE(mark_->hold_back(other_->stream()));
  launch_into(*other_);
  ASSERT_TRUE(other_->wait());
  EXPECT_EQ(fake_state().launches, 3u) << "two of its own, and the one before the mark";
}

TEST_F(Mark, IsWaitedForByTheHost) {
  launch_into(*one_);
  ASSERT_TRUE(mark_->set(one_->stream()));
  launch_into(*one_);
  ASSERT_TRUE(mark_->wait());
  EXPECT_EQ(fake_state().launches, 1u);
}

TEST_F(Mark, HoldsNobodyUntilItIsSet) {
  launch_into(*one_);
  ASSERT_TRUE(mark_->wait());
  ASSERT_TRUE(mark_->hold_back(other_->stream()));
  ASSERT_TRUE(other_->wait());
  EXPECT_EQ(fake_state().launches, 0u);
}

TEST_F(Mark, StandsWhereItWasSetLast) {
  launch_into(*one_);
  ASSERT_TRUE(mark_->set(one_->stream()));
  launch_into(*other_);
  ASSERT_TRUE(mark_->set(other_->stream()));
  ASSERT_TRUE(mark_->wait());
  EXPECT_EQ(fake_state().launches, 1u);
}

TEST_F(Mark, PassesOnAFault) {
  launch_into(*one_);
  ASSERT_TRUE(mark_->set(one_->stream()));
  fake_state().fault_at = 1;
  EXPECT_TRUE(device_failed(mark_->wait()));
}

TEST_F(Mark, FollowsAGraphInACallersStream) {
  auto graph = gpu::TimedGraph::record(*one_, [this]() -> Status { return launch_into(*one_), Status{}; });
  ASSERT_TRUE(graph) << graph.error().message;
  ASSERT_TRUE((*graph)->launch(other_->stream()));
  ASSERT_TRUE(one_->wait());
  EXPECT_EQ(fake_state().launches, 0u) << "it is not in the queue that it was recorded from";
  ASSERT_TRUE(other_->wait());
  EXPECT_EQ(fake_state().launches, 1u);
}

TEST(Pinned, IsZerosAndGivenBackOnAnyThread) {
  auto gpu = testing::counting_gpu();
  auto pinned = gpu::Pinned::make(*gpu, 1000);
  ASSERT_TRUE(pinned) << pinned.error().message;
  EXPECT_THAT(std::vector((*pinned)->data(), (*pinned)->data() + 1000), ::testing::Each(std::byte{0}));
  EXPECT_EQ(testing::ledger().held["pinned"], 1);
  std::thread([&] { pinned->reset(); }).join();
  EXPECT_EQ(testing::ledger().held["pinned"], 0);
  EXPECT_EQ(fake_state().refused, 0u);
}

// A device that is gone has no memory.
TEST(Pinned, ThatIsNotThereIsAnError) {
  auto gpu = testing::fake_gpu();
  fake_state().dead = true;
  auto pinned = gpu::Pinned::make(*gpu, 1000);
  fake_state().dead = false;
  ASSERT_FALSE(pinned);
  EXPECT_EQ(pinned.error().message, "fake: allocating 1000 bytes of pinned memory: a fault (700)");
}

}  // namespace
}  // namespace rung
