// A session by one thread at a time, whichever it is, and several sessions at once: on a device that is not there,
// which refuses what a driver refuses, and on one that is.
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <latch>
#include <optional>
#include <thread>

#include "plan/support.hpp"
#include "support/device.hpp"
#include "support/fake_target.hpp"
#include "support/gpu_word.hpp"

namespace rung {
namespace {

struct ThreadsCase {
  bool device, capture;
};

constexpr const char* kLookupText =
    "table: f32[9,64] = constant(name=\"table\")\n"
    "w: f32[64,64] = constant(name=\"w\")\n"
    "ids: i64[1,8] = input()\n"
    "bias: f32[1,8,64] = input()\n"
    "h: f32[1,8,64] = add(gather(table, ids, axis=0), bias)\n"
    "k: f32[1,8,64] = gelu(linear(h, w))\n"
    "s: f32[1,8,8] = softmax(matmul(h, transpose(k, permutation=[0,2,1])))\n"
    "y: f32[1,8,64] = linear(matmul(s, k), w)\n"
    "return y=y, s=s";
constexpr size_t kThreads = 4;

class SessionThreads : public ::testing::TestWithParam<ThreadsCase> {
 protected:
  void SetUp() override {
    if (GetParam().device) {
      auto opened = open_target(gpu_word());
      if (!opened) GTEST_SKIP() << opened.error().message;
      target_ = *opened;
    } else {
      target_ = &fake_.emplace(testing::fake_target());
    }
    Recipe recipe{.rungs = {"reduce", "fusion"}, .capture = GetParam().capture, .threads = 0};
    auto built = build_plan(graph_, recipe, {.target = target_});
    ASSERT_TRUE(built) << built.error().message;
    plan_ = std::make_shared<Plan>(std::move(built->plan));
  }
  void TearDown() override {
    if (fake_) {
      EXPECT_EQ(testing::fake_state().refused, 0u);
    }
  }

  Session opened() const {
    auto session = Session::create(plan_, nullptr);
    EXPECT_TRUE(session) << session.error().message;
    return std::move(*session);
  }
  NamedTensors inputs(size_t number) const { return random_inputs(graph_, std::to_string(number)); }
  Outputs answer(size_t number) const {
    auto session = Session::create(plan_, nullptr);
    EXPECT_TRUE(session) << session.error().message;
    return session ? outputs_of(*session, inputs(number)) : Outputs{};
  }
  static int replays() { return GetParam().device ? 300 : 30; }

  Graph graph_ = graph_of(kLookupText);
  std::optional<Target> fake_;
  const Target* target_ = nullptr;
  std::shared_ptr<const Plan> plan_;
};

bool same(const Outputs& a, const Outputs& b) {
  return a.size() == 2 && b.size() == 2 && same_bits(a[0].second, b[0].second) && same_bits(a[1].second, b[1].second);
}

TEST_P(SessionThreads, MayRunASessionAnotherOpened) {
  Session session = opened();
  Outputs here = outputs_of(session, inputs(1)), there, later;
  std::thread([&] { there = outputs_of(session, inputs(2)); }).join();
  std::thread([&] { later = outputs_of(session, inputs(1)); }).join();
  EXPECT_TRUE(same(there, answer(2)));
  EXPECT_TRUE(same(later, here));
}

TEST_P(SessionThreads, MayMeasureASessionAnotherOpened) {
  Session session = opened();
  std::thread([&] {
    Recorder& recorder = session.recorder();
    ASSERT_TRUE(session.infer(inputs(1)));
    EXPECT_TRUE(recorder.device_ms());
    EXPECT_TRUE(recorder.run_step(0));
    auto each = recorder.step_us();
    EXPECT_TRUE(each) << each.error().message;
    const std::vector<size_t> steps{0, 1};
    auto together = recorder.together_us(steps);
    EXPECT_TRUE(together) << together.error().message;
  }).join();
}

TEST_P(SessionThreads, ThatRunAtOnceGetTheirOwnAnswers) {
  std::vector<Outputs> alone;
  std::vector<Session> sessions;
  for (size_t i = 0; i < kThreads; ++i) alone.push_back(answer(i)), sessions.push_back(opened());
  std::latch start(kThreads);
  auto run = [&](size_t i) {
    const NamedTensors mine = inputs(i);
    start.arrive_and_wait();
    for (int replay = 0; replay < replays(); ++replay)
      ASSERT_TRUE(same(outputs_of(sessions[i], mine), alone[i])) << "thread " << i << ", replay " << replay;
  };
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kThreads; ++i) threads.emplace_back(run, i);
  for (std::thread& thread : threads) thread.join();
}

TEST_P(SessionThreads, ThatOpenSessionsDisturbNoneThatRun) {
  const Outputs first = answer(1), second = answer(2);
  std::atomic<bool> enough = false, right = true;
  Session running = opened();
  std::thread runner([&] {
    const NamedTensors mine = inputs(1);
    while (!enough && right) right = same(outputs_of(running, mine), first);
  });
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(same(answer(2), second)) << "session " << i;
  enough = true;
  runner.join();
  EXPECT_TRUE(right);
}

TEST_P(SessionThreads, MayOpenSessionsAtOnce) {
  const Outputs alone = answer(1);
  std::latch start(kThreads);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kThreads; ++i)
    threads.emplace_back([&] {
      start.arrive_and_wait();
      for (int again = 0; again < 3; ++again) EXPECT_TRUE(same(answer(1), alone));
    });
  for (std::thread& thread : threads) thread.join();
}

TEST_P(SessionThreads, MayEndASessionAnotherOpened) {
  std::optional<Session> kept = opened(), ended = opened();
  Outputs before = outputs_of(*kept, inputs(1));
  ASSERT_TRUE(ended->infer(inputs(2)));
  std::thread([&] { ended.reset(); }).join();
  EXPECT_TRUE(same(outputs_of(*kept, inputs(1)), before));
}

INSTANTIATE_TEST_SUITE_P(Fake, SessionThreads, ::testing::Values(ThreadsCase{false, false}, ThreadsCase{false, true}));
INSTANTIATE_TEST_SUITE_P(Gpu, SessionThreads, ::testing::Values(ThreadsCase{true, false}, ThreadsCase{true, true}));

}  // namespace
}  // namespace rung
