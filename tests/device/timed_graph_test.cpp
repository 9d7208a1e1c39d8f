// Graphs recorded, replayed and timed on a device that is not there; and nothing of the device kept.
// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/timed_graph.hpp"

#include <gmock/gmock.h>

#include "device/gpu/peaks.hpp"
#include "device/gpu/staging.hpp"
#include "support/counting_gpu.hpp"

namespace rung {
namespace {

using gpu::TimedGraph;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::ledger;

// A device that counts, a queue of it, and three launches into that.
struct Card {
  std::shared_ptr<gpu::Gpu> gpu = testing::counting_gpu();
  std::unique_ptr<gpu::Queue> queue = *gpu::Queue::make(*gpu);

  Result<std::unique_ptr<TimedGraph>> record() {
    return TimedGraph::record(*queue, [this]() -> Status {
      for (int i = 0; i < 3; ++i) RUNG_CHECK(gpu->check(testing::fake::submit(queue->stream(), {}), "launch"));
      return {};
    });
  }
};

TEST(TimedGraph, RunsNothingUntilItIsReplayed) {
  Card card;
  testing::fake_state().nodes = 3;
  auto graph = card.record();
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(testing::fake_state().launches, 0u);
  EXPECT_EQ((*graph)->nodes(), 3u);
  ASSERT_TRUE((*graph)->replay());
  EXPECT_EQ(testing::fake_state().launches, 3u);
}

TEST(TimedGraph, TimesTheLaunchesBetweenItsEvents) {
  Card card;
  auto graph = card.record();
  ASSERT_TRUE(graph);
  for (int i = 0; i < 2; ++i) {
    ledger().calls.clear();
    ASSERT_TRUE((*graph)->replay());
    EXPECT_NEAR((*graph)->ms(), 3 * 0.007, 1e-6) << "of the last replay alone";
    EXPECT_THAT(ledger().calls, ElementsAre("record 1", "graph", "record 2", "wait"));
  }
}

TEST(TimedGraph, ThatCannotBeRecordedLeavesTheStreamFree) {
  Card card;
  auto graph = TimedGraph::record(*card.queue, []() -> Status { return fail("no such kernel"); });
  ASSERT_FALSE(graph);
  EXPECT_EQ(graph.error().message, "no such kernel");
  EXPECT_EQ(testing::fake_state().recording, 0u) << "the recording has ended";
  EXPECT_EQ(ledger().held["event"], 0);
  EXPECT_EQ(ledger().held["graph"], 0);
}

TEST(TimedGraph, PassesOnAFaultOfItsReplay) {
  Card card;
  auto graph = card.record();
  ASSERT_TRUE(graph);
  testing::fake_state().fault_at = 2;
  EXPECT_TRUE(device_failed((*graph)->replay()));
}

TEST(Device, GetsEverythingBack) {
  {
    Card card;
    auto graph = card.record();
    ASSERT_TRUE(graph);
    EXPECT_EQ(ledger().held["event"], 2);
    EXPECT_EQ(ledger().held["executable"], 1);
    EXPECT_EQ(ledger().held["graph"], 0) << "an executable graph needs its description no more";
    auto block = *card.gpu->allocate(1000);
    std::vector<std::byte> data(20'000'000);
    std::vector<std::shared_ptr<gpu::Block>> blocks{*card.gpu->allocate(data.size())};
    ASSERT_TRUE(
        gpu::upload_all(*card.gpu, std::vector<gpu::HostCopy>{{blocks[0]->address(), data.data(), data.size()}}));
    EXPECT_EQ(ledger().held["pinned"], 0);
    EXPECT_EQ(ledger().held["stream"], 1) << "the queue's";
    EXPECT_EQ(ledger().held["block"], 2);
  }
  for (const auto& [kind, count] : ledger().held) EXPECT_EQ(count, 0) << kind;
}

TEST(Device, ThatIsNotThereIsNamed) {
  for (int device : {-1, 1}) {
    auto card = gpu::Gpu::open(testing::fake_runtime(), device);
    ASSERT_FALSE(card);
    EXPECT_EQ(card.error().message, fmt::format("there is no fake device {}; this machine has 1", device));
  }
}

TEST(Device, GivesAllFreeMemoryAndNoMore) {
  auto card = testing::counting_gpu();
  ledger().free_bytes = 4096;
  EXPECT_TRUE(card->allocate(4096));
  auto more = card->allocate(4097);
  ASSERT_FALSE(more);
  EXPECT_THAT(more.error().message, HasSubstr("not enough memory: wanted 4097 bytes, 4096 of 1073741824 are free"));
  EXPECT_EQ(ledger().held["block"], 0);
}

TEST(Device, CountsItsChores) {
  Card card;
  auto block = *card.gpu->allocate(8);
  int64_t value = 5;
  ASSERT_TRUE(card.queue->upload(block->address(), &value, 8));
  ASSERT_TRUE(card.queue->download(&value, block->address(), 8));
  ASSERT_TRUE(card.queue->wait());
  auto count = [&](gpu::Chore chore) { return card.gpu->chores()[static_cast<size_t>(chore)]; };
  EXPECT_EQ(count(gpu::Chore::allocate), 1);
  EXPECT_EQ(count(gpu::Chore::copy), 2);
  EXPECT_EQ(count(gpu::Chore::wait), 3);
  EXPECT_EQ(count(gpu::Chore::load_module), 0);
}

// 1 MiB, as of a device of little memory, is read and written; the first copy finds the clocks low, and one is
// disturbed.
TEST(DevicePeaks, AreThoseOfTheBestCopy) {
  auto card = testing::counting_gpu();
  ledger().copies_ms = {3, 1.5, 1, 2, 1.25, 9, 1.5, 1.5};
  auto peaks = gpu::measure_peaks(*card, nullptr);
  ASSERT_TRUE(peaks) << peaks.error().message;
  EXPECT_NEAR(peaks->read_gbps, 2 * 0.001048576 / 1e-3, 1e-4);
  EXPECT_EQ(peaks->gemm_f32_gflops, 0);
  EXPECT_EQ(ledger().held["event"], 0);
}

}  // namespace
}  // namespace rung
