// What is right the first time and may not be the second: errors of several runs in flight, copies of outputs that a
// later run finds alive, a run after one that failed.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "session/on_devices.hpp"
#include "support/counting_gpu.hpp"

namespace rung {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Two ops that can fault: rows of a table, and a division of whole numbers.
constexpr const char* kFaulty =
    "t: f32[4,2] = input()\n"
    "i: i64[3] = input()\n"
    "n: i64[3] = input()\n"
    "a: f32[3,2] = gather(t, i, axis=0)  # the.lookup\n"
    "d: i64[3] = div(n, i)  # the.division\n"
    "return a=a, d=d";
const Tensor kTable = Tensor::of<float>({4, 2}, {0, 0, 1, 10, 2, 20, 3, 30});
const std::vector<int64_t> kGood{1, 2, 3}, kTooLarge{1, 4, 3}, kZero{1, 0, 3}, kBoth{0, 4, 1};

class SecondTime : public OnDevices {
 protected:
  std::shared_ptr<const Plan> faulty_plan() {
    return plan(kFaulty, [](Plan& made) {
      made.inputs[0].value = kTable;
      made.inputs[2].value = Tensor::of<int64_t>({3}, {6, 6, 6});
    });
  }
  // Enqueues a run over indices that lie on the device.
  void enqueue(Session& session, gpu::Queue& side, const std::vector<int64_t>& indices) {
    on_device_.push_back(uploaded(indices));
    ASSERT_TRUE(session.bind_input(1, Place::device, pointer(*on_device_.back())));
    ASSERT_TRUE(session.run_async(side.stream()));
  }
  std::vector<std::shared_ptr<gpu::Block>> on_device_;
};

class SecondTimeInStreams : public SecondTime {};

TEST_P(SecondTimeInStreams, TheFirstErrorInFlightIsTold) {
  Session session = open(faulty_plan());
  const auto side = stream();
  for (const auto& [first, second, told] :
       {std::tuple{kTooLarge, kZero, "the.lookup"}, std::tuple{kZero, kTooLarge, "the.division"}}) {
    enqueue(session, *side, first);
    // A run of the host's memory settles the one before it, and is right itself.
    ASSERT_TRUE(session.bind_input(1, Place::host, kGood.data()));
    EXPECT_EQ(error_of(session.run()), "no error");
    enqueue(session, *side, second);
    EXPECT_THAT(error_of(session.wait()), HasSubstr(told));
    EXPECT_EQ(error_of(session.wait()), "no error") << "told once, and the second's with it";
  }
}

TEST_P(SecondTimeInStreams, FailingRunsInFlightLeaveNoErrorsBehind) {
  Session session = open(faulty_plan());
  const auto side = stream();
  enqueue(session, *side, kTooLarge);
  enqueue(session, *side, kBoth);
  EXPECT_THAT(error_of(session.wait()), HasSubstr("the.lookup"));
  enqueue(session, *side, kGood);
  EXPECT_EQ(error_of(session.wait()), "no error");
  EXPECT_THAT((*session.outputs())[0].second.as<float>(), ElementsAre(1, 10, 2, 20, 3, 30));
}

TEST_P(SecondTimeInStreams, RunsInFlightEndBeforeOutputsAreCopied) {
  Session session = open(masked_plan());
  const auto side = stream();
  std::vector<std::vector<std::pair<std::string, Tensor>>> kept;
  for (float value : {1.0f, 2.0f, 3.0f}) {
    ASSERT_TRUE(session.set_inputs({{"x", Tensor::of<float>({4}, Values(4, value))}}));
    ASSERT_TRUE(session.run_async(side->stream()));
    kept.push_back(*session.outputs());
  }
  for (size_t i = 0; i < kept.size(); ++i) EXPECT_THAT(kept[i][0].second.as<float>(), Each(static_cast<float>(i + 1)));
}

INSTANTIATE_TEST_SUITE_P(Fake, SecondTimeInStreams, ::testing::Values(Where{On::fake, false}, Where{On::fake, true}));
INSTANTIATE_TEST_SUITE_P(Gpu, SecondTimeInStreams,
                         ::testing::Values(Where{On::device, false}, Where{On::device, true}));

TEST_P(SecondTime, OutputsOutliveTheNextRunAndTheSession) {
  std::vector<std::pair<std::string, Tensor>> first, second;
  {
    Session session = open(masked_plan());
    first = *session.infer({{"x", Tensor::of<float>({4}, {1, 2, 3, 4})}});
    second = *session.infer({{"x", Tensor::of<float>({4}, {9, 9, 9, 9})}});
    EXPECT_THAT(first[0].second.as<float>(), ElementsAre(1, 2, 3, 4)) << "after another run";
    std::ranges::fill(first[1].second.as<float>(), 7.0f);
    EXPECT_THAT((*session.outputs())[1].second.as<float>(), Each(-1.0f)) << "a copy, not the session's own";
  }
  EXPECT_THAT(first[0].second.as<float>(), ElementsAre(1, 2, 3, 4)) << "after the session";
  EXPECT_THAT(second[0].second.as<float>(), Each(9.0f));
}

TEST_P(SecondTime, FaultsAreToldAndLeaveNextRunsRight) {
  Session session = open(faulty_plan());
  const auto run = [&](const std::vector<int64_t>& indices) {
    auto outputs = session.infer({{"i", Tensor::of<int64_t>({3}, indices)}});
    return outputs ? std::string("no error") : outputs.error().message;
  };
  for (int round = 0; round < 2; ++round) {
    EXPECT_THAT(run(kTooLarge), HasSubstr("the.lookup"));
    EXPECT_THAT(run(kTooLarge), HasSubstr("the.lookup")) << "not only the first time";
    EXPECT_EQ(run(kGood), "no error");
    EXPECT_THAT(run(kZero), HasSubstr("the.division"));
    EXPECT_EQ(run(kGood), "no error");
    EXPECT_THAT((*session.outputs())[1].second.as<int64_t>(), ElementsAre(6, 3, 2));
  }
}

TEST_P(SecondTime, InputsThatAreSetAgainReplaceThoseBefore) {
  Session session = open(masked_plan());
  for (float value : {1.0f, 5.0f, 1.0f}) {
    ASSERT_TRUE(session.set_inputs({{"x", Tensor::of<float>({4}, Values(4, -1))}}));
    ASSERT_TRUE(session.set_inputs({{"x", Tensor::of<float>({4}, Values(4, value))}}));
    for (int again = 0; again < 2; ++again) {
      ASSERT_TRUE(session.run());
      EXPECT_THAT((*session.outputs())[0].second.as<float>(), Each(value));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Processor, SecondTime,
                         ::testing::Values(Where{On::processor, false}, Where{On::processor, true}));
INSTANTIATE_TEST_SUITE_P(Fake, SecondTime, ::testing::Values(Where{On::fake, false}, Where{On::fake, true}));
INSTANTIATE_TEST_SUITE_P(Gpu, SecondTime, ::testing::Values(Where{On::device, false}, Where{On::device, true}));

// ---- a device that once refuses to fill memory

bool refuses_fills = false;
int fill_or_refuse(gpu::Address to, uint8_t value, size_t bytes, gpu::Stream stream) {
  return refuses_fills ? int{testing::fake::kFault} : testing::fake::fill(to, value, bytes, stream);
}
std::shared_ptr<gpu::Gpu> refusing_gpu() {
  static const gpu::Runtime table = [] {
    gpu::Runtime made = testing::fake_runtime();
    made.fill = fill_or_refuse;
    return made;
  }();
  testing::fake_state() = {};
  return *gpu::Gpu::open(table, 0);
}

TEST(ARefusedFill, DoesNotBlameALaterRun) {
  for (bool capture : {false, true}) {
    Target target = testing::fake_target();
    target.gpu = refusing_gpu();
    refuses_fills = false;
    auto built = build_plan(graph_of(kFaulty), {.capture = capture, .threads = 0}, {.target = &target});
    ASSERT_TRUE(built) << built.error().message;
    built->plan.inputs[0].value = kTable;
    built->plan.inputs[2].value = Tensor::of<int64_t>({3}, {6, 6, 6});
    auto session = Session::create(std::make_shared<Plan>(std::move(built->plan)), nullptr);
    ASSERT_TRUE(session) << session.error().message;
    refuses_fills = true;
    EXPECT_FALSE(session->infer({{"i", Tensor::of<int64_t>({3}, kTooLarge)}}));
    refuses_fills = false;
    auto outputs = session->infer({{"i", Tensor::of<int64_t>({3}, kGood)}});
    ASSERT_TRUE(outputs) << outputs.error().message;
    EXPECT_THAT((*outputs)[0].second.as<float>(), ElementsAre(1, 10, 2, 20, 3, 30));
  }
}

}  // namespace
}  // namespace rung
