// Loops in which the host reads each token, and loops that look alike.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/told_model.hpp"

namespace rung::trace {
namespace {

constexpr auto kFinding = findings::wait_per_token;

// A loop of steps with a product of `rows` rows, then a copy of `bytes` bytes to the host, which waits for it.
struct Loop {
  int64_t rows = 1, bytes = 8;
  double pause_us = 30;  // of the host, behind the wait
  bool to_host = true;
  bool is_graph = false;
  bool reads_each = true;  // false: the last step alone
  std::string kernel = "gemv_kernel_tn";
  int steps = 4;

  std::optional<TraceFinding> found() const {
    ToldModel model;
    for (int step = 1; step <= steps; ++step) {
      model.script.range(fmt::format("ProfilerStep#{}", step), [&] {
        if (is_graph)
          model.script.graph({{kernel, 60.0}, {kernel, 40.0}});
        else
          model.product({.m = rows, .k = 4096, .n = 4096, .us = 100, .kernel = kernel});
        if (!reads_each && step < steps) return;
        model.script.copy({.bytes = bytes, .host_to_device = !to_host, .device_to_host = to_host}, 1, false);
        model.script.synchronize();
      });
      model.script.host(pause_us);
    }
    return model.found(kFinding);
  }
};

TEST(WaitPerToken, OfALoopThatReadsEachToken) {
  const auto finding = Loop{}.found();
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->id, "wait_per_token");
  EXPECT_EQ(finding->evidence[0].event, "cudaStreamSynchronize");
  EXPECT_EQ(finding->evidence[0].count, 3) << "no step follows the last";
  // The host's 30 us, its operation and launch, and the way to the device, three times in four steps.
  EXPECT_NEAR(finding->bound_ms, 0.75 * 0.0365, 0.002);
}

TEST(WaitPerToken, BetweenGraphsToo) {
  const auto graphs = Loop{.is_graph = true}.found();
  ASSERT_TRUE(graphs);
  EXPECT_NEAR(graphs->bound_ms, 0.75 * 0.036, 0.002);
  EXPECT_FALSE((Loop{.is_graph = true, .kernel = "nvjet_sm90_tst_128x128"}.found())) << "many rows, by its kernels";
}

TEST(WaitPerToken, OtherLoopsHaveNone) {
  EXPECT_FALSE(Loop{.rows = 50}.found()) << "no step of one token";
  EXPECT_FALSE(Loop{.bytes = 6400}.found()) << "more than tokens";
  EXPECT_FALSE(Loop{.bytes = -1}.found()) << "not known to be a token";
  EXPECT_FALSE(Loop{.to_host = false}.found());
  EXPECT_FALSE(Loop{.pause_us = 2000}.found()) << "the host does something else, or waits for its turn";
  EXPECT_FALSE(Loop{.reads_each = false}.found()) << "read once, at the end";
}

}  // namespace
}  // namespace rung::trace
