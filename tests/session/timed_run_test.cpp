// Runs that are timed are runs, but where a device counts: one run tells what all of them count.
// SPDX-License-Identifier: Apache-2.0
#include "session/timed_run.hpp"

#include <gtest/gtest.h>

#include "device/gpu/emulated.hpp"
#include "device/gpu/gpu.hpp"
#include "plan/build.hpp"
#include "support/device.hpp"
#include "support/graphs.hpp"

namespace rung {
namespace {

Session little_session(const Target& target) {
  auto built = build_plan(graph_of("y = neg(x:f32[64])\nreturn y=y"), {}, {.target = &target});
  EXPECT_TRUE(built) << built.error().message;
  auto session = Session::create(std::make_shared<Plan>(std::move(built->plan)),
                                 target.gpu ? nullptr : std::make_shared<cpu::Team>(1));
  EXPECT_TRUE(session) << session.error().message;
  EXPECT_TRUE(session->set_inputs({{"x", Tensor({DType::f32, {64}})}}));
  return std::move(*session);
}

TEST(TimedRuns, OfADeviceThatCountsAreOneRun) {
  const auto target = open_target("emu:gfx942");
  if (!target) GTEST_SKIP() << target.error().message;
  Session session = little_session(**target);
  const gpu::Context device = (*target)->gpu->context();
  gpu::take_emulated_counts(device);
  const double once = timed_run(session).value();
  const uint64_t counted = gpu::take_emulated_counts(device).instructions;
  EXPECT_GT(counted, 0u);
  const auto runs = timed_runs(session);
  for (int k = 0; k < 5; ++k) EXPECT_EQ(runs().value(), once);
  EXPECT_EQ(gpu::take_emulated_counts(device).instructions, counted);
}

TEST(TimedRuns, OfAProcessorEachTakeTheirTime) {
  Session session = little_session(cpu_target());
  const auto runs = timed_runs(session);
  double least = HUGE_VAL, most = 0;
  for (int k = 0; k < 200; ++k) {
    const double seconds = runs().value();
    least = std::min(least, seconds), most = std::max(most, seconds);
  }
  EXPECT_GT(least, 0);
  EXPECT_GT(most, least);  // 200 runs are not alike to the nanosecond
}

}  // namespace
}  // namespace rung
