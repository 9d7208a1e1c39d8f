// Faults of a device that is not there: what a run says, that nothing comes out of it, and the op that stepping names.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "plan/build.hpp"
#include "session/session.hpp"
#include "support/fake_target.hpp"
#include "support/graphs.hpp"

namespace rung {
namespace {

using ::testing::HasSubstr;

constexpr size_t kSteps = 3;

class DeviceFault : public ::testing::TestWithParam<bool> {
 protected:
  // A device of its own for every session, as for every process.
  Session session(SessionOptions options = {}, size_t fault_at = 0) {
    target = testing::fake_target();
    testing::fake_state().fault_at = fault_at;
    auto built = build_plan(graph, {.capture = GetParam()}, {.target = &target});
    EXPECT_TRUE(built) << built.error().message;
    EXPECT_EQ(built->plan.steps.size(), kSteps);
    auto made = Session::create(std::make_shared<Plan>(std::move(built->plan)), nullptr, options);
    EXPECT_TRUE(made) << made.error().message;
    return std::move(*made);
  }
  Graph graph = graph_of(
      "x: f32[4] = input()\n"
      "y: f32[4] = neg(x)  # first\n"
      "z: f32[4] = exp(y)  # second.layer\n"
      "w: f32[4] = neg(z)  # third\n"
      "return w=w");
  Target target = testing::fake_target();
  NamedTensors inputs{{"x", Tensor::of<float>({4}, {0, 1, 2, 3})}};
};

TEST_P(DeviceFault, InAnyLaunchEndsTheRunWithoutOutputs) {
  for (size_t step = 1; step <= kSteps; ++step) {
    Session running = session();
    ASSERT_TRUE(running.infer(inputs));
    testing::fake_state().fault_at = testing::fake_state().launches + step;
    auto outputs = running.infer(inputs);
    ASSERT_FALSE(outputs) << step;
    EXPECT_TRUE(device_failed(outputs)) << outputs.error().message;
    EXPECT_THAT(outputs.error().message, HasSubstr("a fault (700)"));
    EXPECT_TRUE(device_failed(running.run())) << "the device stays lost";
    EXPECT_TRUE(device_failed(running.outputs()));
  }
}

TEST_P(DeviceFault, IsNotBlamedOnTheLaunchReportingIt) {
  Session running = session();
  ASSERT_TRUE(running.set_inputs(inputs));
  testing::fake_state().fault_at = testing::fake_state().launches + 1;
  Status done = running.run();
  ASSERT_TRUE(device_failed(done));
  if (!GetParam()) {  // launches one by one: the second is told of the first's fault
    EXPECT_THAT(done.error().message, HasSubstr("at or before second.layer (exp)"));
  }
}

TEST_P(DeviceFault, NamesItsOpWhenRunStepwise) {
  Session stepping = session({.stepwise = true}, 2);
  auto outputs = stepping.infer(inputs);
  ASSERT_TRUE(device_failed(outputs));
  EXPECT_EQ(outputs.error().message,
            "device fault in op 2 of 3: second.layer (exp) on unary_fallback: fake: waiting for the device: a fault "
            "(700)");
}

TEST_P(DeviceFault, ThatIsAbsentLeavesSteppedAnswersEqual) {
  Session running = session();
  auto want = running.infer(inputs);
  ASSERT_TRUE(want) << want.error().message;
  Session stepping = session({.stepwise = true});
  auto got = stepping.infer(inputs);
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_TRUE(same_bits((*got)[0].second, (*want)[0].second));
  EXPECT_FLOAT_EQ((*got)[0].second.as<float>()[1], -std::exp(-1.0f));
  EXPECT_EQ(testing::fake_state().captures, 0u) << "stepping records no graph";
}

TEST_P(DeviceFault, IsNoOtherError) {
  Session running = session();
  auto outputs = running.infer({});
  ASSERT_FALSE(outputs);
  EXPECT_FALSE(device_failed(outputs)) << "a missing input is the caller's";
}

INSTANTIATE_TEST_SUITE_P(Captured, DeviceFault, ::testing::Bool());

}  // namespace
}  // namespace rung
