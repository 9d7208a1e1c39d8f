// What a recorder tells of time and memory, on a device that is not there and counts.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <array>
#include <functional>

#include "plan/build.hpp"
#include "session/gpu_weights.hpp"
#include "session/session.hpp"
#include "support/counting_gpu.hpp"
#include "support/fake_target.hpp"
#include "support/graphs.hpp"

namespace rung {
namespace {

using ::testing::Contains;
using ::testing::DoubleNear;
using ::testing::HasSubstr;
using testing::ledger;

constexpr double kLaunchUs = 7;

Target counting_target(std::span<const Kernel* const> rows = testing::fake_rows()) {
  Target target{.kind = "fake", .name = "fake", .fingerprint = "fake", .machine = Machine(cpu::cpu_info())};
  target.kernels = rows;
  target.gpu = testing::counting_gpu();
  return target;
}

// Its first and third launches solve one problem.
constexpr const char* kTimedText =
    "x: f32[4] = input()\n"
    "y: f32[4] = neg(x)\n"
    "z: f32[4] = exp(y)\n"
    "w: f32[4] = neg(z)\n"
    "return w=w, z=z";

Result<Session> session_on(const Target& target, bool capture, const char* text = kTimedText) {
  Graph graph = graph_of(text);
  RUNG_TRY(Built built, build_plan(graph, {.capture = capture}, {.target = &target}));
  return Session::create(std::make_shared<Plan>(std::move(built.plan)), nullptr);
}

class DeviceTimes : public ::testing::TestWithParam<bool> {
 protected:
  Session session() {
    auto made = session_on(target, GetParam());
    EXPECT_TRUE(made) << made.error().message;
    return std::move(*made);
  }
  Target target = counting_target();
  NamedTensors inputs{{"x", Tensor::of<float>({4}, {0, 1, 2, 3})}};
};

TEST_P(DeviceTimes, OfARunAreThoseOfItsLaunches) {
  Session running = session();
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(running.infer(inputs));
    ASSERT_TRUE(running.recorder().device_ms().has_value());
    EXPECT_NEAR(*running.recorder().device_ms() * 1e3, 3 * kLaunchUs, 1e-3);
  }
}

TEST_P(DeviceTimes, OfLaunchesOfOneProblemAreEqual) {
  Session running = session();
  auto us = running.recorder().step_us();
  ASSERT_TRUE(us) << us.error().message;
  EXPECT_THAT(*us, ::testing::Pointwise(DoubleNear(1e-3), std::vector<double>{kLaunchUs, kLaunchUs, kLaunchUs}));
}

TEST_P(DeviceTimes, OfAPartAreItsLaunchesTogether) {
  Session running = session();
  for (const std::vector<size_t>& steps : {std::vector<size_t>{1}, {0, 2}, {0, 1, 2}}) {
    auto us = running.recorder().together_us(steps);
    ASSERT_TRUE(us) << us.error().message;
    EXPECT_NEAR(us->value_or(0), kLaunchUs * static_cast<double>(steps.size()), 1e-3);
  }
}

TEST_P(DeviceTimes, AreMeasuredWithoutChangingTheAnswer) {
  Session running = session();
  auto before = running.infer(inputs);
  ASSERT_TRUE(before);
  ASSERT_TRUE(running.recorder().step_us());
  auto after = running.infer(inputs);
  ASSERT_TRUE(after);
  EXPECT_TRUE(same_bits((*before)[0].second, (*after)[0].second));
}

// Launches that are timed alone read what others left in their memory: a bad index there is no run's.
TEST_P(DeviceTimes, RaiseNoFaultOfARun) {
  auto running = session_on(target, GetParam(),
                            "t: f32[4] = constant(values=[1,2,3,4])\ni: i64[2] = input()\ny = gather(t, i)\nreturn y");
  ASSERT_TRUE(running) << running.error().message;
  const NamedTensors good{{"i", Tensor::of<int64_t>({2}, {3, 0})}};
  const std::array<int64_t, 2> bad{1000, -1000};
  const auto spoil = [&] {
    return running->recorder().write(running->plan().inputs[0].buffer, bad.data(), sizeof bad);
  };
  for (const auto& alone :
       {std::function<Status()>([&] { return running->recorder().step_us() ? Status{} : fail("no"); }),
        std::function<Status()>([&] { return running->recorder().run_step(0); })}) {
    ASSERT_TRUE(running->infer(good));
    ASSERT_TRUE(spoil());
    ASSERT_TRUE(alone());
    auto after = running->infer(good);
    ASSERT_TRUE(after) << after.error().message;
    EXPECT_EQ((*after)[0].second.as<float>()[0], 4);
  }
  EXPECT_FALSE(running->infer({{"i", Tensor::of<int64_t>({2}, {3, 4})}})) << "a run's own faults are told";
}

TEST_P(DeviceTimes, LeaveNothingOnTheDevice) {
  {
    Session running = session();
    ASSERT_TRUE(running.infer(inputs));
    ASSERT_TRUE(running.recorder().step_us());
    EXPECT_EQ(ledger().held["executable"], GetParam() ? 1 : 0) << "the run's own graph";
  }
  for (const char* kind : {"block", "event", "graph", "executable", "pinned", "stream"})
    EXPECT_EQ(ledger().held[kind], 0) << kind;
}

// No run shows memory that someone else has left.
TEST_P(DeviceTimes, BeginWithAnArenaOfZeros) {
  Graph graph = graph_of(kTimedText);
  auto built = build_plan(graph, {}, {.target = &target});
  ASSERT_TRUE(built);
  auto made = Session::create(std::make_shared<Plan>(std::move(built->plan)), nullptr);
  ASSERT_TRUE(made) << made.error().message;
  auto outputs = made->outputs();
  ASSERT_TRUE(outputs);
  for (const auto& [name, tensor] : *outputs) EXPECT_THAT(tensor.as<float>(), ::testing::Each(0.0f)) << name;
}

INSTANTIATE_TEST_SUITE_P(Captured, DeviceTimes, ::testing::Bool());

TEST(DeviceMemory, OfAPlanIsRefusedAsAWhole) {
  Target target = counting_target();
  Graph graph = graph_of("x: f32[64] = input()\nw: f32[64] = constant(name=\"w\")\ny: f32[64] = add(x, w)\nreturn y=y");
  auto built = build_plan(graph, {}, {.target = &target});
  ASSERT_TRUE(built) << built.error().message;
  ledger().free_bytes = 256;  // holds the weight, and no arena beside it
  auto made = Session::create(std::make_shared<Plan>(std::move(built->plan)), nullptr);
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("not enough memory"));
  EXPECT_EQ(target.gpu->chores()[static_cast<size_t>(gpu::Chore::allocate)], 0) << "nothing was begun";
}

// Its first launch takes memory of the device, as a library that sets itself up does.
Status take_at_first(const gpu::Call& call) {
  if (ledger().held["launched"]++ == 0) ledger().free_bytes -= 5'000'000;
  return call.gpu.check(testing::fake::submit(call.stream, {}), "unary_greedy");
}
const Kernel kGreedy{.name = "unary_greedy",
                     .op = "unary",
                     .supports = [](const Problem&, const Machine&) { return accept(); },
                     .enqueue = take_at_first};
const Kernel* const kGreedyRows[] = {&kGreedy};

TEST(DeviceMemory, ThatTheFirstRunTookIsNoted) {
  Target target = counting_target(kGreedyRows);
  auto made = session_on(target, true);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_THAT(made->recorder().capture_notes(), Contains(HasSubstr("device memory taken: 5 MB; warmed by that run")));
}

// A host block's address may be given away as soon as it is free; the device's copy of the old one is none of the new.
TEST(DeviceMemory, OfWeightsIsNotReusedByAddressAlone) {
  Target target = counting_target();
  alignas(64) std::array<float, 4> memory{1, 2, 3, 4};
  auto plan_over_memory = [&] {
    Plan plan;
    plan.target = &target;
    std::shared_ptr<const std::byte> data(reinterpret_cast<const std::byte*>(memory.data()), [](const std::byte*) {});
    plan.weights.push_back({"w", sizeof memory, std::move(data)});
    return plan;
  };
  auto first = upload_weights(plan_over_memory(), 0);
  ASSERT_TRUE(first);
  memory = {5, 6, 7, 8};
  auto second = upload_weights(plan_over_memory(), 0);
  ASSERT_TRUE(second);
  EXPECT_NE((*second)[0], (*first)[0]);
  EXPECT_EQ(std::memcmp(gpu::device_pointer((*second)[0]->address()), memory.data(), sizeof memory), 0);
}

}  // namespace
}  // namespace rung
