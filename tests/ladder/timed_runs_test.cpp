// Latencies of a session whose every run takes longer than the one before: which runs are timed, and what is told.
// SPDX-License-Identifier: Apache-2.0
#include "ladder/measure_runs.hpp"
#include "scripted_climb.hpp"

namespace rung {
namespace {

// The n-th run takes n times 100 us.
int runs_so_far = 0;
void longer_every_time(const cpu::Call& call) { scripted::answer(call, 100 * ++runs_so_far); }

class TimedRuns : public ScriptedClimb {
 protected:
  TimedRuns() {
    set_kernels({{"softmax_plain", longer_every_time}});
    runs_so_far = 0;
    auto built = build_plan(graph_of("x: f32[2,8] = input()\ny = softmax(x)\nreturn y=y"), {}, {.target = &target});
    EXPECT_TRUE(built) << built.error().message;
    auto made = Session::create(std::make_shared<Plan>(std::move(built->plan)), std::make_shared<cpu::Team>(1));
    EXPECT_TRUE(made) << made.error().message;
    session = std::make_unique<Session>(std::move(*made));
    EXPECT_TRUE(session->set_inputs(numbers(1)));
  }
  std::unique_ptr<Session> session;
};

// Of 0.2, 0.3 ... 10.2 ms.
void expect_figures(const Latency& latency) {
  EXPECT_EQ(latency.runs, 101);
  EXPECT_NEAR(latency.min_ms, 0.2, 1e-9);
  EXPECT_NEAR(latency.median_ms, 5.2, 1e-9);
  EXPECT_NEAR(latency.p90_ms, 9.2, 1e-9);
  EXPECT_NEAR(latency.p99_ms, 10.1, 1e-9);
  EXPECT_NEAR(latency.ci95.lo, 4.2, 0.1);
  EXPECT_NEAR(latency.ci95.hi, 6.2, 0.1);
}

TEST_F(TimedRuns, TellEveryFigureOfAllButTheFirst) {
  auto measured = measure_runs(*session, {.runs = 101});
  ASSERT_TRUE(measured) << measured.error().message;
  expect_figures(measured->latency);
  EXPECT_EQ(measured->rate_hz, 0);
}

TEST_F(TimedRuns, EndWithTheRunThatExceedsTheirSeconds) {
  auto measured = measure_runs(*session, {.seconds = 0.5252});
  ASSERT_TRUE(measured) << measured.error().message;
  expect_figures(measured->latency);
}

TEST_F(TimedRuns, AreTheSameForSecondsAlone) {
  auto timed = time_runs(*session, 0.5252);
  ASSERT_TRUE(timed) << timed.error().message;
  expect_figures(*timed);
}

TEST_F(TimedRuns, AreOneAtLeast) {
  auto measured = measure_runs(*session, {.seconds = 0});
  ASSERT_TRUE(measured) << measured.error().message;
  EXPECT_EQ(measured->latency.runs, 1);
  EXPECT_NEAR(measured->latency.median_ms, 0.2, 1e-9);
  auto timed = time_runs(*session, 0);
  ASSERT_TRUE(timed) << timed.error().message;
  EXPECT_EQ(timed->runs, 1);
  EXPECT_NEAR(timed->median_ms, 0.4, 1e-9) << "after one more that is not timed";
}

TEST_F(TimedRuns, AreShortRoundsOfEachProfiledLaunch) {
  auto profile = profile_session(*session, numbers(1), 3.3);
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_NEAR(profile->ops[0].us, 1200 - kHandoffUs, 1e-6) << "the median of runs 2 to 22";
}

}  // namespace
}  // namespace rung
