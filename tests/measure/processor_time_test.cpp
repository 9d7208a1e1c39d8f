// Shares of a time that others took.
// SPDX-License-Identifier: Apache-2.0
#include "measure/processor_time.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

namespace rung {
namespace {

TEST(ShareTaken, IsTheCallersTimeOffItsProcessor) {
  EXPECT_EQ(share_taken({1000, 500, 0}, {2000, 1500, 0}, 1), 0);
  EXPECT_DOUBLE_EQ(share_taken({1000, 500, 0}, {2000, 1250, 0}, 1), 0.25);
}

TEST(ShareTaken, IsAllThreadsWaitIfThatIsMore) {
  EXPECT_DOUBLE_EQ(share_taken({0, 0, 100}, {1000, 1000, 500}, 1), 0.4);
  EXPECT_DOUBLE_EQ(share_taken({0, 0, 100}, {1000, 300, 500}, 1), 0.7);
}

TEST(ShareTaken, StaysWithinNoneAndAll) {
  EXPECT_EQ(share_taken({0, 0, 0}, {1000, 1001, 0}, 1), 0) << "the two clocks differ by some nanoseconds";
  EXPECT_EQ(share_taken({0, 0, 0}, {1000, 0, 9000}, 1), 1);
  EXPECT_EQ(share_taken({5, 0, 0}, {5, 0, 0}, 1), 0) << "no time has passed";
}

TEST(ShareTaken, IgnoresThreadsThatCompeteWithEachOther) {
  EXPECT_EQ(share_taken({0, 0, 0}, {1000, 300, 500}, 1 << 20), 0);
}

TEST(ProcessorSample, CountsTheCallersTimeOnAProcessorOnly) {
  const ProcessorSample before = read_processor_sample();
  usleep(20'000);
  const ProcessorSample after = read_processor_sample();
  EXPECT_GE(after.ns - before.ns, 20'000'000);
  EXPECT_GT(after.cpu_ns, before.cpu_ns);
  EXPECT_LT(after.cpu_ns - before.cpu_ns, after.ns - before.ns - 15'000'000);
}

TEST(ProcessorSample, CountsWaitingWhereTheSystemTells) {
  if (!std::filesystem::exists("/proc/self/schedstat")) GTEST_SKIP() << "no /proc/self/schedstat";
  EXPECT_GE(read_processor_sample().waited_ns, 0);
}

}  // namespace
}  // namespace rung
