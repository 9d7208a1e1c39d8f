// Memory bound to inputs and outputs: the session's own, which a loop writes and reads, and the caller's.
// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "session/on_devices.hpp"
#include "support/counting_gpu.hpp"

namespace rung {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Bound : public OnDevices {
 protected:
  static constexpr size_t kX = 0, kMask = 1, kY = 0, kA = 1;  // by index
  Values x_{1, 2, 3, 4};
};

TEST_P(Bound, SessionMemoryIsAllThatALoopNeeds) {
  Session session = open(masked_plan());
  float* x = floats(session.own_input(kX, Place::host));
  float* y = floats(session.own_output(kY, Place::host));
  for (float round = 1; round < 5; ++round) {
    for (int i = 0; i < 4; ++i) x[i] = round * static_cast<float>(i);
    ASSERT_TRUE(session.run());
    EXPECT_THAT(values(y), ElementsAre(0, round, 2 * round, 3 * round));
  }
}

TEST_P(Bound, SessionMemoryStaysWhereItIs) {
  Session session = open(masked_plan());
  for (Place place : {Place::host, Place::device}) {
    auto x = session.own_input(kX, place), y = session.own_output(kY, place);
    ASSERT_TRUE(x && y);
    EXPECT_NE(*x, *y);
    for (std::byte* memory : {*x, *y}) EXPECT_EQ(std::bit_cast<uintptr_t>(memory) % kBufferAlignment, 0u);
    ASSERT_TRUE(session.bind_input(kX, Place::host, x_.data()));
    ASSERT_TRUE(session.unbind_output(kY));
    ASSERT_TRUE(session.run());
    EXPECT_EQ(*session.own_input(kX, place), *x);
    EXPECT_EQ(*session.own_output(kY, place), *y);
  }
}

TEST_P(Bound, SessionMemoryBeginsAsTheDefaultOrZeros) {
  Session session = open(masked_plan());
  float* x = floats(session.own_input(kX, Place::host));
  float* mask = floats(session.own_input(kMask, Place::host));
  EXPECT_THAT(values(x), Each(0.0f));
  EXPECT_THAT(values(mask), Each(1.0f));
  EXPECT_THAT(values(floats(session.own_output(kA, Place::host))), Each(0.0f));
  x[0] = 5, mask[0] = 5;
  EXPECT_EQ(floats(session.own_input(kX, Place::host))[0], 5) << "it is bound already";
  ASSERT_TRUE(session.bind_input(kX, Place::host, x_.data()));
  ASSERT_TRUE(session.unbind_input(kMask));
  ASSERT_TRUE(session.run());
  EXPECT_THAT(values(floats(session.own_input(kX, Place::host))), Each(0.0f)) << "bound again";
  EXPECT_THAT(values(floats(session.own_input(kMask, Place::host))), Each(1.0f));
}

TEST_P(Bound, CallersMemoryIsReadAndFilledEveryRun) {
  Session session = open(masked_plan());
  Values y(4), a(4), mask{1, 0, 1, 0};
  ASSERT_TRUE(session.bind_input(kX, Place::host, x_.data()));
  ASSERT_TRUE(session.bind_input(kMask, Place::host, mask.data()));
  ASSERT_TRUE(session.bind_output(kY, Place::host, y.data()));
  ASSERT_TRUE(session.bind_output(kA, Place::host, a.data()));
  ASSERT_TRUE(session.run());
  EXPECT_THAT(y, ElementsAre(1, 0, 3, 0));
  x_[0] = 7, mask[1] = 1;
  ASSERT_TRUE(session.run());
  EXPECT_THAT(y, ElementsAre(7, 2, 3, 0));
  EXPECT_THAT(a, ElementsAre(-1, -1, -1, 0));
}

TEST_P(Bound, InputsTakeTheirDefaultsAgainWhenUnbound) {
  Session session = open(masked_plan());
  Values mask{0, 0, 0, 2};
  float* y = floats(session.own_output(kY, Place::host));
  ASSERT_TRUE(session.bind_input(kX, Place::host, x_.data()));
  ASSERT_TRUE(session.run());
  EXPECT_THAT(values(y), ElementsAre(1, 2, 3, 4));
  ASSERT_TRUE(session.bind_input(kMask, Place::host, mask.data()));
  ASSERT_TRUE(session.run());
  EXPECT_THAT(values(y), ElementsAre(0, 0, 0, 8));
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(session.unbind_input(kMask));
    ASSERT_TRUE(session.run());
    EXPECT_THAT(values(y), ElementsAre(1, 2, 3, 4));
  }
}

TEST_P(Bound, InputsWithoutADefaultAreMissedByName) {
  Session session = open(masked_plan());
  const std::string missing = "input 'x' (f32[4]) is missing and has no default";
  EXPECT_EQ(error_of(session.run()), missing);
  ASSERT_TRUE(session.bind_input(kX, Place::host, x_.data()));
  EXPECT_TRUE(session.run());
  ASSERT_TRUE(session.unbind_input(kX));
  EXPECT_EQ(error_of(session.run()), missing);
  ASSERT_TRUE(session.set_inputs({{"x", Tensor::of<float>({4}, x_)}}));
  EXPECT_TRUE(session.run());
}

TEST_P(Bound, OutputsAreNotCopiedWhenUnbound) {
  Session session = open(masked_plan());
  Values y(4, -1);
  ASSERT_TRUE(session.bind_input(kX, Place::host, x_.data()));
  ASSERT_TRUE(session.bind_output(kY, Place::host, y.data()));
  ASSERT_TRUE(session.unbind_output(kY));
  ASSERT_TRUE(session.run());
  EXPECT_THAT(y, Each(-1.0f));
  EXPECT_THAT((*session.outputs())[0].second.as<float>(), ElementsAre(1, 2, 3, 4)) << "but are there";
}

TEST_P(Bound, ValuesAreCheckedInEveryRun) {
  Session session = open(masked_plan());
  Values y(4, -1);
  ASSERT_TRUE(session.bind_input(kX, Place::host, x_.data()));
  ASSERT_TRUE(session.bind_output(kY, Place::host, y.data()));
  for (float bad : {NAN, INFINITY, -INFINITY}) {
    x_[2] = bad;
    EXPECT_THAT(error_of(session.run()), HasSubstr("input 'x' f32[4]: got ")) << bad;
    EXPECT_THAT(y, Each(-1.0f)) << "nothing comes of it";
  }
  float* own = floats(session.own_input(kX, Place::host));
  own[0] = NAN;
  EXPECT_THAT(error_of(session.run()), HasSubstr("input 'x' f32[4]: got 1 NaN"));
  own[0] = 3;
  EXPECT_TRUE(session.run());
  EXPECT_THAT(y, ElementsAre(3, 0, 0, 0));
}

TEST_P(Bound, IntegersAreCheckedAgainstTheirRange) {
  auto looked_up = std::make_shared<Plan>(*lookup_plan());
  looked_up->inputs[1].first = 0, looked_up->inputs[1].last = 3;
  Session session = open(looked_up);
  std::array<int64_t, 3> ids{3, 0, 4};
  ASSERT_TRUE(session.bind_input(1, Place::host, ids.data()));
  EXPECT_EQ(error_of(session.run()), "input 'i': got value 4, wanted 0 to 3") << "before what the lookup says";
  ids[2] = 1;
  EXPECT_EQ(error_of(session.run()), "no error") << "the fault of the run before is not told again";
  EXPECT_THAT((*session.outputs())[0].second.as<float>(), ElementsAre(3, 30, 0, 0, 1, 10));
}

TEST_P(Bound, MinusInfinityIsTakenInAMask) {
  Session session = open(plan("y = softmax(add(s:f32[1,3], mask:f32[1,3]))\nreturn y=y", [](Plan&) {}));
  Values s{0, 0, 5}, mask{0, 0, -INFINITY}, y(3);
  ASSERT_TRUE(session.bind_input(0, Place::host, s.data()));
  ASSERT_TRUE(session.bind_input(1, Place::host, mask.data()));
  ASSERT_TRUE(session.bind_output(0, Place::host, y.data()));
  EXPECT_EQ(error_of(session.run()), "no error");
  EXPECT_THAT(y, ::testing::Pointwise(::testing::FloatNear(1e-6f), Values{0.5f, 0.5f, 0.0f}));
}

TEST_P(Bound, SetValuesGoToOwnMemoryReplacingCallers) {
  Session session = open(masked_plan());
  Values mask{0, 0, 0, 0};
  float* x = floats(session.own_input(kX, Place::host));
  ASSERT_TRUE(session.bind_input(kMask, Place::host, mask.data()));
  ASSERT_TRUE(session.set_inputs({{"x", Tensor::of<float>({4}, x_)}}));
  EXPECT_THAT(values(x), ElementsAre(1, 2, 3, 4));
  ASSERT_TRUE(session.run());
  EXPECT_THAT((*session.outputs())[0].second.as<float>(), ElementsAre(1, 2, 3, 4));
  x[0] = 9;
  ASSERT_TRUE(session.run());
  EXPECT_THAT((*session.outputs())[0].second.as<float>(), ElementsAre(9, 2, 3, 4)) << "it is still bound";
}

TEST_P(Bound, PortsThatAreNotThereAreRefused) {
  Session session = open(masked_plan());
  EXPECT_EQ(error_of(session.bind_input(2, Place::host, x_.data())),
            "there is no input 2: the plan has 2, counted from 0");
  EXPECT_EQ(error_of(session.bind_output(2, Place::host, x_.data())),
            "there is no output 2: the plan has 2, counted from 0");
  EXPECT_FALSE(session.own_input(2, Place::host));
  EXPECT_FALSE(session.own_output(2, Place::host));
  EXPECT_FALSE(session.unbind_input(2));
  EXPECT_FALSE(session.unbind_output(2));
  EXPECT_EQ(error_of(session.bind_input(kX, Place::host, nullptr)), "input 'x': got no memory to bind");
  EXPECT_EQ(error_of(session.bind_output(kY, Place::host, nullptr)), "output 'y': got no memory to bind");
}

INSTANTIATE_TEST_SUITE_P(Processor, Bound, ::testing::Values(Where{On::processor, false}, Where{On::processor, true}));
INSTANTIATE_TEST_SUITE_P(Fake, Bound, ::testing::Values(Where{On::fake, false}, Where{On::fake, true}));
INSTANTIATE_TEST_SUITE_P(Gpu, Bound, ::testing::Values(Where{On::device, false}, Where{On::device, true}));

class BoundOnTheProcessor : public Bound {};

TEST_P(BoundOnTheProcessor, SessionMemoryIsThePlansBuffer) {
  Session session = open(masked_plan());
  for (Place place : {Place::host, Place::device}) {
    EXPECT_EQ(*session.own_input(kX, place), session.recorder().host_buffer(session.plan().inputs[kX].buffer));
    EXPECT_EQ(*session.own_output(kA, place), session.recorder().host_buffer(session.plan().outputs[kA].buffer));
  }
}

TEST_P(BoundOnTheProcessor, MemoryOfADeviceIsTheHosts) {
  Session session = open(masked_plan());
  Values y(4);
  ASSERT_TRUE(session.bind_input(kX, Place::device, x_.data()));
  ASSERT_TRUE(session.bind_output(kY, Place::device, y.data()));
  ASSERT_TRUE(session.run());
  EXPECT_THAT(y, ElementsAre(1, 2, 3, 4));
}

INSTANTIATE_TEST_SUITE_P(Processor, BoundOnTheProcessor,
                         ::testing::Values(Where{On::processor, false}, Where{On::processor, true}));

class BoundOnADevice : public Bound {};

TEST_P(BoundOnADevice, DeviceMemoryIsReadAndFilledEveryRun) {
  Session session = open(masked_plan());
  auto x = uploaded(x_), mask = uploaded(Values{2, 2, 2, 0}), y = uploaded(Values(4)), a = uploaded(Values(4));
  ASSERT_TRUE(session.bind_input(kX, Place::device, pointer(*x)));
  ASSERT_TRUE(session.bind_input(kMask, Place::device, pointer(*mask)));
  ASSERT_TRUE(session.bind_output(kY, Place::device, pointer(*y)));
  ASSERT_TRUE(session.bind_output(kA, Place::device, pointer(*a)));
  ASSERT_TRUE(session.run());
  EXPECT_THAT(downloaded(*y), ElementsAre(2, 4, 6, 0));
  EXPECT_THAT(downloaded(*a), ElementsAre(-2, -2, -2, 0));
  ASSERT_TRUE(queue_->fill(x->address(), 0, 2 * sizeof(float)));
  ASSERT_TRUE(queue_->wait());
  ASSERT_TRUE(session.run());
  EXPECT_THAT(downloaded(*y), ElementsAre(0, 0, 6, 0));
}

TEST_P(BoundOnADevice, OwnMemoryIsReadAndFilledInPlace) {
  Session session = open(masked_plan());
  const gpu::Address x = gpu::address_of(*session.own_input(kX, Place::device)),
                     mask = gpu::address_of(*session.own_input(kMask, Place::device)),
                     y = gpu::address_of(*session.own_output(kY, Place::device));
  EXPECT_THAT(downloaded(x, 4), Each(0.0f));
  EXPECT_THAT(downloaded(mask, 4), Each(1.0f));
  ASSERT_TRUE(queue_->upload(x, x_.data(), 4 * sizeof(float)));
  ASSERT_TRUE(session.run());
  EXPECT_THAT(downloaded(y, 4), ElementsAre(1, 2, 3, 4));
}

TEST_P(BoundOnADevice, HostAndDeviceGoTogether) {
  Session session = open(masked_plan());
  auto mask = uploaded(Values{0, 1, 0, 1});
  float* x = floats(session.own_input(kX, Place::host));
  float* y = floats(session.own_output(kY, Place::host));
  ASSERT_TRUE(session.bind_input(kMask, Place::device, pointer(*mask)));
  std::copy(x_.begin(), x_.end(), x);
  ASSERT_TRUE(session.run());
  EXPECT_THAT(values(y), ElementsAre(0, 2, 0, 4));
}

INSTANTIATE_TEST_SUITE_P(Fake, BoundOnADevice, ::testing::Values(Where{On::fake, false}, Where{On::fake, true}));
INSTANTIATE_TEST_SUITE_P(Gpu, BoundOnADevice, ::testing::Values(Where{On::device, false}, Where{On::device, true}));

// On a device that counts what it is asked for.
class Waits : public ::testing::TestWithParam<bool> {
 protected:
  Session open(const char* text) {
    target_.kernels = testing::fake_rows();
    target_.gpu = testing::counting_gpu();
    auto built = build_plan(graph_of(text), {.capture = GetParam(), .threads = 0}, {.target = &target_});
    EXPECT_TRUE(built) << built.error().message;
    auto session = Session::create(std::make_shared<Plan>(std::move(built->plan)), nullptr);
    EXPECT_TRUE(session) << session.error().message;
    return std::move(*session);
  }
  static size_t waits() {
    const auto& calls = testing::ledger().calls;
    return static_cast<size_t>(std::count(calls.begin(), calls.end(), "wait"));
  }
  Target target_{.kind = "fake", .name = "fake", .fingerprint = "fake", .machine = Machine(cpu::cpu_info())};
};

TEST_P(Waits, AreOnePerRunWhateverIsBound) {
  Session session = open("a = gather(t:f32[4,2], i:i64[3], axis=0)\nb = neg(t)\nreturn a=a, b=b");
  std::vector<float> table(8, 1), a(6);
  ASSERT_TRUE(session.bind_input(0, Place::host, table.data()));
  ASSERT_TRUE(session.own_input(1, Place::host));
  ASSERT_TRUE(session.bind_output(0, Place::host, a.data()));
  ASSERT_TRUE(session.own_output(1, Place::host));
  for (int run = 0; run < 3; ++run) {
    testing::ledger().calls.clear(), testing::ledger().fills.clear();
    ASSERT_TRUE(session.run());
    EXPECT_EQ(waits(), 1u) << run;
    EXPECT_TRUE(testing::ledger().fills.empty()) << "flags are lowered where one was raised";
  }
}

TEST_P(Waits, AreTheWholeRunWhereNothingIsBound) {
  Session session = open("x: f32[4] = input()\ny = neg(x)\nreturn y=y");
  ASSERT_TRUE(session.set_inputs({{"x", Tensor::of<float>({4}, {1, 2, 3, 4})}}));
  testing::ledger().calls.clear();
  ASSERT_TRUE(session.run());
  using ::testing::StartsWith;
  if (GetParam())
    EXPECT_THAT(testing::ledger().calls, ElementsAre(StartsWith("record"), "graph", StartsWith("record"), "wait"));
  else
    EXPECT_THAT(testing::ledger().calls, ElementsAre(StartsWith("record"), StartsWith("record"), "wait"));
}

TEST_P(Waits, AndMemoryEndWithTheSession) {
  {
    Session session = open("x: f32[4] = input()\ny = neg(x)\nreturn y=y");
    ASSERT_TRUE(session.own_input(0, Place::host));
    ASSERT_TRUE(session.own_input(0, Place::host));
    ASSERT_TRUE(session.own_output(0, Place::host));
    EXPECT_EQ(testing::ledger().held["pinned"], 3) << "of two ports and the faults";
    ASSERT_TRUE(session.run());
  }
  for (const char* kind : {"block", "event", "graph", "executable", "pinned", "stream"})
    EXPECT_EQ(testing::ledger().held[kind], 0) << kind;
}

INSTANTIATE_TEST_SUITE_P(Captured, Waits, ::testing::Bool());

}  // namespace
}  // namespace rung
