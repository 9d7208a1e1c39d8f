// A device that fails while it is measured: the measurement, and the climb, end with its error.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ladder/measure_runs.hpp"
#include "ladder/profile.hpp"
#include "support.hpp"
#include "support/fake_target.hpp"
#include "support/pace.hpp"

namespace rung {
namespace {

using testing::fake_state;
using ::testing::HasSubstr;

class FailingRuns : public ::testing::Test {
 protected:
  // Two launches a run; capturing runs them twice and records them.
  Session session() {
    auto built = build_plan(graph_of("x: f32[4] = input()\ny: f32[4] = neg(x)\nz: f32[4] = exp(y)\nreturn z=z"),
                            {.capture = true}, {.target = &target});
    EXPECT_TRUE(built) << built.error().message;
    auto made = Session::create(std::make_shared<Plan>(std::move(built->plan)), nullptr);
    EXPECT_TRUE(made) << made.error().message;
    EXPECT_TRUE(made->set_inputs({{"x", Tensor::of<float>({4}, {0, 1, 2, 3})}}));
    return std::move(*made);
  }
  // The run, counted from here, whose second launch faults.
  static void fail_in_run(size_t run) { fake_state().fault_at = fake_state().launches + 2 * run; }

  Target target = testing::fake_target();
};

template <class T>
void expect_fault(const Result<T>& result) {
  ASSERT_FALSE(result);
  EXPECT_TRUE(device_failed(result)) << result.error().message;
  EXPECT_THAT(result.error().message, HasSubstr("a fault (700)"));
}

TEST_F(FailingRuns, EndMeasuringAtACadence) {
  for (size_t run : {1, 2, 7}) {  // the first is not timed
    target = testing::fake_target();
    Session running = session();
    fail_in_run(run);
    expect_fault(measure_runs(running, {.runs = 10}));
    EXPECT_EQ(fake_state().launches, fake_state().fault_at) << "nothing runs after it";
  }
}

TEST_F(FailingRuns, EndTheSensorsSecondThatIsNotTimed) {
  Session running = session();
  fail_in_run(5);
  expect_fault(measure_runs(running, {.runs = 2}));
}

TEST_F(FailingRuns, EndTimingForSeconds) {
  for (size_t run : {1, 2, 7}) {
    target = testing::fake_target();
    Session running = session();
    fail_in_run(run);
    expect_fault(time_runs(running, 1000));
  }
}

TEST_F(FailingRuns, AreNotWhatSoundOnesAre) {
  Session running = session();
  auto measured = measure_runs(running, {.runs = 10});
  ASSERT_TRUE(measured) << measured.error().message;
  EXPECT_EQ(measured->latency.runs, 10);
}

class FailingClimb : public ::testing::Test {
 protected:
  // Climbs a small model on a device that faults some launches after that stage began.
  Result<ClimbOutcome> climb_failing_at(const std::string& stage) {
    target = testing::fake_target();
    suspects.clear();
    ClimbOptions options{.target = &target,
                         .threads = 0,
                         .budget_s = 3 * kPace,
                         .inputs = {sample_inputs(subject.model, 1)},
                         .database_path = directory / "tuning.json",
                         .progress =
                             [&](const std::string& now, double) {
                               if (now == stage && fake_state().fault_at == 0)
                                 fake_state().fault_at = fake_state().launches + 60;
                             },
                         .device_failed = [this](const Recipe& recipe) { suspects.push_back(recipe); }};
    return climb(subject, options);
  }
  Subject subject = tiny_bert();
  TemporaryDirectory directory;
  Target target = testing::fake_target();
  std::vector<Recipe> suspects;
};

TEST_F(FailingClimb, EndsWithTheFaultWhereverItComes) {
  auto sound = climb_failing_at("no stage");
  ASSERT_TRUE(sound) << sound.error().message;
  EXPECT_TRUE(sound->result.verified);
  EXPECT_TRUE(suspects.empty());
  for (const char* stage : {"baseline", "default plan", "gemm", "final measurements"}) {
    expect_fault(climb_failing_at(stage));
    EXPECT_EQ(suspects.size(), 1u) << stage;
  }
}

}  // namespace
}  // namespace rung
