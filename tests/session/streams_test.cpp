// Runs in streams of the caller's: enqueued, in order, and what a wait fills and tells. The device that is not there
// does nothing until someone waits for it.
// SPDX-License-Identifier: Apache-2.0
#include <latch>
#include <thread>

#include "session/on_devices.hpp"

namespace rung {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Streams : public OnDevices {
 protected:
  void SetUp() override {
    OnDevices::SetUp();
    testing::fake_state().lazy = true;
  }
  void TearDown() override {
    EXPECT_EQ(testing::fake_state().refused, 0u);
    testing::fake_state().lazy = false;
  }
  // Bound to own memory on the host, with x filled.
  struct Loop {
    Session session;
    float *x, *y;
    void write(float value) const { std::fill_n(x, 4, value); }
  };
  Loop loop() {
    Loop made{open(masked_plan()), nullptr, nullptr};
    made.x = floats(made.session.own_input(0, Place::host)), made.y = floats(made.session.own_output(0, Place::host));
    return made;
  }
};

TEST_P(Streams, OfTheCallerTakeRunsThatWaitsComplete) {
  Loop running = loop();
  const auto side = stream();
  for (float value : {1.0f, 2.0f, 3.0f}) {
    running.write(value);
    ASSERT_TRUE(running.session.run_async(side->stream()));
    ASSERT_TRUE(running.session.wait());
    EXPECT_THAT(values(running.y), Each(value));
  }
}

TEST_P(Streams, AreEnoughToWaitForWithDeviceOutputs) {
  Loop running = loop();
  auto y = uploaded(Values(4));
  ASSERT_TRUE(running.session.bind_output(0, Place::device, pointer(*y)));
  const auto side = stream();
  running.write(5);
  ASSERT_TRUE(running.session.run_async(side->stream()));
  ASSERT_TRUE(side->wait());
  EXPECT_THAT(downloaded(*y), Each(5.0f));
}

TEST_P(Streams, MayBeTheDefaultOne) {
  Loop running = loop();
  running.write(2);
  ASSERT_TRUE(running.session.run_async(nullptr));
  ASSERT_TRUE(running.session.wait());
  EXPECT_THAT(values(running.y), Each(2.0f));
}

// Each run reads what the one before has written, and doubles it.
TEST_P(Streams, KeepTheRunsOfASessionInOrder) {
  Session session = open(masked_plan());
  auto first = uploaded(Values{3, 3, 3, 3}), second = uploaded(Values(4)), mask = uploaded(Values{2, 2, 2, 2});
  const auto one = stream(), other = stream();
  ASSERT_TRUE(session.bind_input(1, Place::device, pointer(*mask)));
  for (int round = 0; round < 10; ++round) {
    ASSERT_TRUE(session.bind_input(0, Place::device, pointer(*first)));
    ASSERT_TRUE(session.bind_output(0, Place::device, pointer(*second)));
    ASSERT_TRUE(session.run_async(one->stream()));
    ASSERT_TRUE(session.bind_input(0, Place::device, pointer(*second)));
    ASSERT_TRUE(session.bind_output(0, Place::device, pointer(*first)));
    ASSERT_TRUE(session.run_async(other->stream()));
  }
  ASSERT_TRUE(other->wait());
  EXPECT_THAT(downloaded(*first), Each(3.0f * (1 << 20)));
  EXPECT_TRUE(session.wait());
}

TEST_P(Streams, TakeTheCallersHostMemoryBeforeTheyReturn) {
  Session session = open(masked_plan());
  const auto one = stream(), other = stream();
  Values x{1, 1, 1, 1};
  std::vector<std::shared_ptr<gpu::Block>> results;
  ASSERT_TRUE(session.bind_input(0, Place::host, x.data()));
  for (float round = 0; round < 4; ++round) {
    results.push_back(uploaded(Values(4)));
    ASSERT_TRUE(session.bind_output(0, Place::device, pointer(*results.back())));
    x.assign(4, round);
    ASSERT_TRUE(session.run_async((static_cast<int>(round) % 2 ? one : other)->stream()));
    x.assign(4, -1);
  }
  ASSERT_TRUE(session.wait());
  for (size_t round = 0; round < 4; ++round) EXPECT_THAT(downloaded(*results[round]), Each(static_cast<float>(round)));
}

TEST_P(Streams, FillTheCallersHostMemoryByTheWait) {
  Session session = open(masked_plan());
  const auto side = stream();
  auto ones = uploaded(Values(4, 1)), twos = uploaded(Values(4, 2));
  Values first(4, -1), second(4, -1);
  ASSERT_TRUE(session.bind_input(0, Place::device, pointer(*ones)));
  ASSERT_TRUE(session.bind_output(0, Place::host, first.data()));
  ASSERT_TRUE(session.run_async(side->stream()));
  EXPECT_THAT(first, Each(-1.0f)) << "not before";
  ASSERT_TRUE(session.bind_input(0, Place::device, pointer(*twos)));
  ASSERT_TRUE(session.bind_output(0, Place::host, second.data()));
  ASSERT_TRUE(session.run_async(side->stream()));
  ASSERT_TRUE(session.unbind_output(0));
  ASSERT_TRUE(session.wait());
  EXPECT_THAT(first, Each(1.0f)) << "whatever is bound by then";
  EXPECT_THAT(second, Each(2.0f));
}

TEST_P(Streams, AreHeldBackBehindACompleteRun) {
  Loop running = loop();
  const auto side = stream();
  auto y = uploaded(Values(4));
  ASSERT_TRUE(running.session.bind_output(0, Place::device, pointer(*y)));
  running.write(1);
  ASSERT_TRUE(running.session.run_async(side->stream()));
  ASSERT_TRUE(running.session.unbind_output(0));
  ASSERT_TRUE(running.session.run());
  EXPECT_THAT(downloaded(*y), Each(1.0f)) << "a run in its own queue comes after those in streams";
  EXPECT_TRUE(running.session.recorder().device_ms().has_value());
}

TEST_P(Streams, AreDoneBeforeValuesAreSetOrCopied) {
  Session session = open(masked_plan());
  const auto side = stream();
  auto y = uploaded(Values(4));
  ASSERT_TRUE(session.bind_output(0, Place::device, pointer(*y)));
  ASSERT_TRUE(session.set_inputs({{"x", Tensor::of<float>({4}, {1, 1, 1, 1})}}));
  ASSERT_TRUE(session.run_async(side->stream()));
  ASSERT_TRUE(session.set_inputs({{"x", Tensor::of<float>({4}, {2, 2, 2, 2})}}));
  ASSERT_TRUE(session.wait());
  EXPECT_THAT(downloaded(*y), Each(1.0f));
  ASSERT_TRUE(session.run_async(side->stream()));
  EXPECT_THAT((*session.outputs())[0].second.as<float>(), Each(2.0f));
}

TEST_P(Streams, ReadOwnMemoryBeforeItBeginsAnew) {
  Session session = open(masked_plan());
  const auto side = stream();
  auto y = uploaded(Values(4));
  ASSERT_TRUE(session.bind_output(0, Place::device, pointer(*y)));
  std::fill_n(floats(session.own_input(0, Place::host)), 4, 6.0f);
  ASSERT_TRUE(session.run_async(side->stream()));
  ASSERT_TRUE(session.own_input(0, Place::device));
  ASSERT_TRUE(session.own_input(0, Place::host)) << "zeros again";
  ASSERT_TRUE(session.wait());
  EXPECT_THAT(downloaded(*y), Each(6.0f));
}

TEST_P(Streams, HaveTheirFaultsToldByTheWaitOnce) {
  Session session = open(lookup_plan());
  const auto side = stream();
  auto good = uploaded(std::vector<int64_t>{0, 3, 1}), bad = uploaded(std::vector<int64_t>{0, 4, 1});
  Values rows(6, -1);
  ASSERT_TRUE(session.bind_output(0, Place::host, rows.data()));
  ASSERT_TRUE(session.bind_input(1, Place::device, pointer(*bad)));
  ASSERT_TRUE(session.run_async(side->stream())) << "nobody has looked";
  Status told = session.wait();
  EXPECT_THAT(error_of(told), HasSubstr("the.lookup (gather): an index is out of range"));
  EXPECT_FALSE(device_failed(told));
  EXPECT_THAT(rows, Each(-1.0f)) << "nothing comes of a run that failed";
  EXPECT_TRUE(session.wait()) << "told once";
  ASSERT_TRUE(session.bind_input(1, Place::device, pointer(*good)));
  ASSERT_TRUE(session.run_async(side->stream()));
  EXPECT_EQ(error_of(session.wait()), "no error");
  EXPECT_THAT(rows, ElementsAre(0, 0, 3, 30, 1, 10));
}

TEST_P(Streams, HaveTheirFaultsToldDespiteALaterRun) {
  Session session = open(lookup_plan());
  const auto side = stream();
  auto good = uploaded(std::vector<int64_t>{0, 3, 1}), bad = uploaded(std::vector<int64_t>{0, 4, 1});
  ASSERT_TRUE(session.bind_input(1, Place::device, pointer(*bad)));
  ASSERT_TRUE(session.run_async(side->stream()));
  ASSERT_TRUE(session.bind_input(1, Place::device, pointer(*good)));
  EXPECT_EQ(error_of(session.run()), "no error") << "of its own";
  EXPECT_THAT(error_of(session.wait()), HasSubstr("the.lookup (gather): an index is out of range"));
}

TEST_P(Streams, RefuseBadValuesAtOnceWithoutFillingOutputs) {
  Session session = open(masked_plan());
  const auto side = stream();
  Values x{1, NAN, 1, 1}, y(4, -1);
  ASSERT_TRUE(session.bind_input(0, Place::host, x.data()));
  ASSERT_TRUE(session.bind_output(0, Place::host, y.data()));
  EXPECT_THAT(error_of(session.run_async(side->stream())), HasSubstr("input 'x' f32[4]: got 1 NaN"));
  EXPECT_TRUE(session.wait());
  EXPECT_THAT(y, Each(-1.0f));
}

TEST_P(Streams, AreWaitedForWhenTheSessionEnds) {
  auto y = uploaded(Values(4));
  const auto side = stream();
  {
    Loop running = loop();
    ASSERT_TRUE(running.session.bind_output(0, Place::device, pointer(*y)));
    running.write(4);
    ASSERT_TRUE(running.session.run_async(side->stream()));
  }
  EXPECT_THAT(downloaded(*y), Each(4.0f)) << "before its memory went";
}

TEST_P(Streams, OfSeveralSessionsRunAtOnce) {
  const auto shared = masked_plan();
  std::vector<Session> sessions;
  for (int i = 0; i < 2; ++i) sessions.push_back(open(shared));
  std::latch start(2);
  auto serve = [&](size_t i) {
    Session& session = sessions[i];
    const auto side = stream();
    float* x = floats(session.own_input(0, Place::host));
    float* y = floats(session.own_output(0, Place::host));
    start.arrive_and_wait();
    for (int round = 0; round < 200; ++round) {
      const float value = static_cast<float>(1000 * (i + 1)) + static_cast<float>(round);
      std::fill_n(x, 4, value);
      ASSERT_TRUE(round % 2 ? session.run_async(side->stream()) : session.run());
      ASSERT_TRUE(session.wait());
      ASSERT_THAT(values(y), Each(value)) << "session " << i << ", round " << round;
    }
  };
  std::thread other(serve, 1);
  serve(0);
  other.join();
}

INSTANTIATE_TEST_SUITE_P(Fake, Streams, ::testing::Values(Where{On::fake, false}, Where{On::fake, true}));
INSTANTIATE_TEST_SUITE_P(Gpu, Streams, ::testing::Values(Where{On::device, false}, Where{On::device, true}));

TEST(StreamsOfTheProcessor, AreNotThere) {
  Session session = session_over(plan_of("x: f32[4] = input()\ny = neg(x)\nreturn y=y"));
  Status refused = session.run_async(nullptr);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::usage);
  EXPECT_TRUE(session.wait()) << "nothing is in flight";
}

}  // namespace
}  // namespace rung
