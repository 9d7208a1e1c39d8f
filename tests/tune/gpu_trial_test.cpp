// How long the trial of a candidate on a GPU takes: a budget is spent between candidates, never within one.
// SPDX-License-Identifier: Apache-2.0
#include "tune/gpu_trial.hpp"

#include "kernels/gpu/kernel.hpp"
#include "support.hpp"
#include "support/counting_gpu.hpp"
#include "support/scripted_clock.hpp"

namespace rung {
namespace {

using rung::testing::ledger;

Status enqueue_slowly(const gpu::Call& call) {
  const auto work = [] { scripted::Clock::pass_us(1e3 * ledger().launch_ms); };
  return call.gpu.check(rung::testing::fake::submit(call.stream, work), "slowly");
}
const Kernel kSlowly{.name = "slowly",
                     .op = "linear",
                     .supports = [](const Problem&, const Machine&) { return accept(); },
                     .enqueue = enqueue_slowly};

// A trial of a kernel whose launches take that long, by the device's clock and the host's.
class GpuTrialTime : public ::testing::Test {
 protected:
  struct Taken {
    size_t launches = 0;
    double us = 0;  // of one
  };
  static Taken taken(double launch_ms) {
    const scripted::Clock clock;
    const Target target{.kind = "fake",
                        .name = "fake",
                        .fingerprint = "fake",
                        .machine = Machine(cpu::cpu_info()),
                        .gpu = rung::testing::counting_gpu()};
    ledger().launch_ms = launch_ms;
    const Problem problem = linear_problem(1, 4, 16);
    auto operands = GpuTrialOperands::make(target, problem, 0);
    EXPECT_TRUE(operands) << operands.error().message;
    auto trial = GpuTrial::make(*operands, {&kSlowly, {}});
    EXPECT_TRUE(trial) << trial.error().message;
    const auto time = trial->time(0);
    EXPECT_TRUE(time) << time.error().message;
    return {rung::testing::fake_state().launches, time->us};
  }
};

TEST_F(GpuTrialTime, HasManyQuickLaunchesInAGraph) {
  const Taken quick = taken(0.01);
  EXPECT_EQ(quick.launches, 1u + 4 * 32) << "one alone, a replay that is not timed, and three that are";
  EXPECT_NEAR(quick.us, 10, 1e-2);
}

TEST_F(GpuTrialTime, HasFewSlowLaunchesInAGraph) {
  const Taken slow = taken(1.25);
  EXPECT_EQ(slow.launches, 1u + 4 * 3) << "three fit into 4 ms";
  EXPECT_NEAR(slow.us, 1250, 1e-1);
  EXPECT_EQ(taken(20).launches, 1u + 4 * 1);
}

TEST_F(GpuTrialTime, EndsAfterTwoVerySlowReplays) {
  const Taken slowest = taken(200);
  EXPECT_EQ(slowest.launches, 1u + 1 + 2);
  EXPECT_NEAR(slowest.us, 200'000, 10);
}

}  // namespace
}  // namespace rung
