// How a run's copies reach a GPU: what goes together as one launch, what the driver copies, what is staged in pieces.
// SPDX-License-Identifier: Apache-2.0
#include "session/gpu_copies.hpp"

#include <numeric>

#include "device/gpu/pinned.hpp"
#include "session/on_devices.hpp"
#include "support/counting_gpu.hpp"

namespace rung {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// y = -x, of `count` floats.
std::string negation(size_t count) { return fmt::format("x: f32[{}] = input()\ny = neg(x)\nreturn y=y", count); }
constexpr size_t kPieces = 270'000;  // 1.08 MB: two pieces and a part of one
constexpr size_t kManyPieces = 300'000;

class RunCopies : public OnDevices {
 protected:
  void TearDown() override { testing::fake_state().lazy = false; }
  Session negating(size_t count) {
    return open(plan(negation(count).c_str(), [](Plan&) {}));
  }
  static Values counted(size_t count) {
    Values values(count);
    std::iota(values.begin(), values.end(), 1.0f);
    return values;
  }
  static Values negated(Values values) {
    for (float& value : values) value = -value;
    return values;
  }
  std::unique_ptr<gpu::Pinned> pinned(const Values& values) const {
    auto made = *gpu::Pinned::make(*target_->gpu, values.size() * sizeof(float));
    std::copy(values.begin(), values.end(), floats(made->data()));
    return made;
  }
};

TEST_P(RunCopies, FromHostMemoryComeWholeAtAnySize) {
  for (size_t count : {size_t{1}, size_t{1000}, size_t{16384}, size_t{16385}, size_t{65536}, kPieces, kManyPieces}) {
    Session session = negating(count);
    Values x = counted(count), y(count);
    ASSERT_TRUE(session.bind_input(0, Place::host, x.data()));
    ASSERT_TRUE(session.bind_output(0, Place::host, y.data()));
    for (float last : {7.0f, 8.0f}) {
      x.back() = last;
      ASSERT_TRUE(session.run());
      EXPECT_EQ(y, negated(x)) << count;
    }
  }
}

TEST_P(RunCopies, OnTheDeviceComeWholeWhateverTheirSize) {
  for (size_t count : {size_t{1}, size_t{1000}, size_t{16385}, kPieces, kManyPieces}) {
    Session session = negating(count);
    auto x = uploaded(counted(count)), y = uploaded(Values(count));
    ASSERT_TRUE(session.bind_input(0, Place::device, pointer(*x)));
    ASSERT_TRUE(session.bind_output(0, Place::device, pointer(*y)));
    ASSERT_TRUE(session.run());
    EXPECT_EQ(downloaded(*y), negated(counted(count))) << count;
  }
}

TEST_P(RunCopies, OfMisalignedDeviceMemoryComeWhole) {
  for (size_t skip : {1, 2, 3}) {
    Session session = negating(1000);
    auto x = uploaded(counted(1000 + skip)), y = uploaded(Values(1000 + 2 * skip));
    ASSERT_TRUE(session.bind_input(0, Place::device, static_cast<float*>(pointer(*x)) + skip));
    ASSERT_TRUE(session.bind_output(0, Place::device, static_cast<float*>(pointer(*y)) + skip));
    ASSERT_TRUE(session.run());
    const Values all = downloaded(*y), from = counted(1000 + skip);
    EXPECT_EQ(Values(all.begin() + skip, all.end() - skip), negated(Values(from.begin() + skip, from.end())));
    EXPECT_THAT(Values(all.begin(), all.begin() + skip), Each(0.0f));
    EXPECT_THAT(Values(all.end() - skip, all.end()), Each(0.0f));
  }
}

TEST_P(RunCopies, OfPinnedMemoryOfTheCallersComeWhole) {
  for (size_t count : {size_t{4}, kPieces}) {
    Session session = negating(count);
    auto x = pinned(counted(count)), y = pinned(Values(count));
    ASSERT_TRUE(session.bind_input(0, Place::pinned, x->data()));
    ASSERT_TRUE(session.bind_output(0, Place::pinned, y->data()));
    ASSERT_TRUE(session.run());
    EXPECT_EQ(values(floats(y->data()), count), negated(counted(count)));
  }
}

// The driver copies such memory all the same.
TEST_P(RunCopies, OfMemoryFalselyCalledPinnedComeWhole) {
  for (size_t count : {size_t{4}, kPieces}) {
    Session session = negating(count);
    Values x = counted(count), y(count);
    ASSERT_TRUE(session.bind_input(0, Place::pinned, x.data()));
    ASSERT_TRUE(session.bind_output(0, Place::pinned, y.data()));
    ASSERT_TRUE(session.run());
    EXPECT_EQ(y, negated(x));
  }
}

// The driver refuses it or copies it; no kernel faults.
TEST_P(RunCopies, OfHostMemoryCalledDeviceMemoryAreHarmless) {
  Session wrong = negating(4), right = negating(4);
  Values x = counted(4), y(4);
  ASSERT_TRUE(wrong.bind_input(0, Place::device, x.data()));
  EXPECT_FALSE(device_failed(wrong.run()));
  ASSERT_TRUE(right.bind_input(0, Place::host, x.data()));
  ASSERT_TRUE(right.bind_output(0, Place::host, y.data()));
  EXPECT_EQ(error_of(right.run()), "no error");
  EXPECT_EQ(y, negated(x));
}

TEST_P(RunCopies, OfPinnedMemoryEndWithTheirStream) {
  testing::fake_state().lazy = true;
  Session session = negating(4);
  auto x = pinned({1, 2, 3, 4}), y = pinned(Values(4));
  const auto side = stream();
  ASSERT_TRUE(session.bind_input(0, Place::pinned, x->data()));
  ASSERT_TRUE(session.bind_output(0, Place::pinned, y->data()));
  ASSERT_TRUE(session.run_async(side->stream()));
  ASSERT_TRUE(side->wait());
  EXPECT_THAT(values(floats(y->data())), ElementsAre(-1, -2, -3, -4)) << "nothing of it is left for wait()";
}

TEST_P(RunCopies, OfPinnedMemoryAreCheckedToo) {
  Session session = negating(4);
  auto x = pinned({1, NAN, 3, 4});
  ASSERT_TRUE(session.bind_input(0, Place::pinned, x->data()));
  EXPECT_THAT(error_of(session.run()), HasSubstr("input 'x' f32[4]: got 1 NaN"));
  floats(x->data())[1] = 2;
  EXPECT_EQ(error_of(session.run()), "no error");
}

// Staging memory that an earlier run still reads is not written, though runs without any come between.
TEST_P(RunCopies, ThatAreStagedWaitForThoseBefore) {
  testing::fake_state().lazy = true;
  Session session = negating(4);
  const auto side = stream();
  auto there = uploaded(Values{5, 5, 5, 5}), first = uploaded(Values(4)), other = uploaded(Values(4));
  Values x{1, 1, 1, 1};
  ASSERT_TRUE(session.bind_input(0, Place::host, x.data()));
  ASSERT_TRUE(session.bind_output(0, Place::device, pointer(*first)));
  ASSERT_TRUE(session.run_async(side->stream()));
  ASSERT_TRUE(session.bind_output(0, Place::device, pointer(*other)));
  ASSERT_TRUE(session.bind_input(0, Place::device, pointer(*there)));
  ASSERT_TRUE(session.run_async(side->stream()));
  x.assign(4, 2);
  ASSERT_TRUE(session.bind_input(0, Place::host, x.data()));
  ASSERT_TRUE(session.run_async(side->stream()));
  ASSERT_TRUE(session.wait());
  EXPECT_THAT(downloaded(*first), Each(-1.0f));
  EXPECT_THAT(downloaded(*other), Each(-2.0f));
}

INSTANTIATE_TEST_SUITE_P(Fake, RunCopies, ::testing::Values(Where{On::fake, false}, Where{On::fake, true}));
INSTANTIATE_TEST_SUITE_P(Gpu, RunCopies, ::testing::Values(Where{On::device, false}, Where{On::device, true}));

// What the fake device is asked for.
class AskedCopies : public RunCopies {
 protected:
  void SetUp() override {
    RunCopies::SetUp();
    if (!*gpu::RangeCopies::make(*target_->gpu)) GTEST_SKIP() << "this build has no GPU kernels";
  }
  // What a run asks for, in words; the first has been.
  static std::string asked(Session& session) {
    EXPECT_TRUE(session.run());
    testing::FakeState& state = testing::fake_state();
    state.uploads = state.downloads = state.copies = state.copied_ranges = state.copy_launches = 0;
    EXPECT_TRUE(session.run());
    return fmt::format("{} uploads, {} downloads, {} copies; {} by {} launches", state.uploads, state.downloads,
                       state.copies, state.copied_ranges, state.copy_launches);
  }
};

TEST_P(AskedCopies, OnTheDeviceAreTwoLaunchesPerRun) {
  Session session = open(masked_plan());
  auto x = uploaded(Values(4)), mask = uploaded(Values(4)), y = uploaded(Values(4)), a = uploaded(Values(4));
  ASSERT_TRUE(session.bind_input(0, Place::device, pointer(*x)));
  ASSERT_TRUE(session.bind_input(1, Place::device, pointer(*mask)));
  ASSERT_TRUE(session.bind_output(0, Place::device, pointer(*y)));
  ASSERT_TRUE(session.bind_output(1, Place::device, pointer(*a)));
  EXPECT_EQ(asked(session), "0 uploads, 0 downloads, 0 copies; 4 by 2 launches");
}

TEST_P(AskedCopies, BetweenHostAndDeviceIncludeTheFaults) {
  Session session = open(lookup_plan());
  auto table = uploaded(Values(8));
  std::vector<int64_t> rows{0, 1, 2};
  ASSERT_TRUE(session.bind_input(0, Place::device, pointer(*table)));
  ASSERT_TRUE(session.bind_input(1, Place::host, rows.data()));
  ASSERT_TRUE(session.own_output(0, Place::host));
  EXPECT_EQ(asked(session), "0 uploads, 0 downloads, 0 copies; 4 by 2 launches");
}

// Such as memory of the host's that is said to be the device's: a kernel would fault there.
TEST_P(AskedCopies, OfMemoryBeyondKernelsAreTheDrivers) {
  Session session = open(masked_plan());
  auto x = uploaded(Values(4)), y = uploaded(Values(4)), a = uploaded(Values(4));
  testing::fake_state().foreign = {x->address(), a->address()};
  ASSERT_TRUE(session.bind_input(0, Place::device, pointer(*x)));
  ASSERT_TRUE(session.bind_output(0, Place::device, pointer(*y)));
  ASSERT_TRUE(session.bind_output(1, Place::device, pointer(*a)));
  EXPECT_EQ(asked(session), "0 uploads, 0 downloads, 2 copies; 1 by 1 launches");
}

TEST_P(AskedCopies, InPlaceAreNone) {
  Session session = open(masked_plan());
  ASSERT_TRUE(session.own_input(0, Place::device));
  ASSERT_TRUE(session.own_output(0, Place::device));
  EXPECT_EQ(asked(session), "0 uploads, 0 downloads, 0 copies; 0 by 0 launches");
}

TEST_P(AskedCopies, ThatAreLargeAreTheDrivers) {
  Session session = negating(kManyPieces);
  auto x = uploaded(Values(kManyPieces)), y = uploaded(Values(kManyPieces));
  ASSERT_TRUE(session.bind_input(0, Place::device, pointer(*x)));
  ASSERT_TRUE(session.bind_output(0, Place::device, pointer(*y)));
  EXPECT_EQ(asked(session), "0 uploads, 0 downloads, 2 copies; 0 by 0 launches");
  Session over_the_bus = negating(kPieces);
  ASSERT_TRUE(over_the_bus.own_input(0, Place::host));
  ASSERT_TRUE(over_the_bus.own_output(0, Place::host));
  EXPECT_EQ(asked(over_the_bus), "1 uploads, 1 downloads, 0 copies; 0 by 0 launches");
}

TEST_P(AskedCopies, OfPinnedMemoryAreTheDriversAndStraight) {
  Session session = negating(kPieces);
  auto x = pinned(Values(kPieces)), y = pinned(Values(kPieces));
  ASSERT_TRUE(session.bind_input(0, Place::pinned, x->data()));
  ASSERT_TRUE(session.bind_output(0, Place::pinned, y->data()));
  EXPECT_EQ(asked(session), "1 uploads, 1 downloads, 0 copies; 0 by 0 launches") << "no pieces of it";
}

TEST_P(AskedCopies, OfMoreThanALaunchTakesAreTwo) {
  std::string text, list;
  for (size_t i = 0; i <= gpu::kCopiedRanges; ++i) text += fmt::format("x{}: f32[2] = input()\n", i);
  for (size_t i = 0; i <= gpu::kCopiedRanges; ++i) list += (i ? ", " : "") + fmt::format("x{}", i);
  Session session = open(plan((text + "y = concat(" + list + ", axis=0)\nreturn y=y").c_str(), [](Plan&) {}));
  std::vector<std::shared_ptr<gpu::Block>> inputs;
  Values expected;
  for (size_t i = 0; i <= gpu::kCopiedRanges; ++i) {
    const auto value = static_cast<float>(i);
    inputs.push_back(uploaded(Values{value, -value}));
    expected.insert(expected.end(), {value, -value});
    ASSERT_TRUE(session.bind_input(i, Place::device, pointer(*inputs.back())));
  }
  EXPECT_EQ(asked(session), "0 uploads, 0 downloads, 0 copies; 17 by 2 launches");
  EXPECT_THAT((*session.outputs())[0].second.as<float>(), ::testing::ElementsAreArray(expected));
}

INSTANTIATE_TEST_SUITE_P(Fake, AskedCopies, ::testing::Values(Where{On::fake, false}, Where{On::fake, true}));

// A device that looks at where an upload comes from.
class StagedPieces : public ::testing::Test {
 protected:
  static inline std::vector<size_t> pieces;  // bytes
  static inline const float* staging = nullptr;
  static inline bool ahead = false;  // staged further than what is being uploaded
  static int upload(gpu::Address to, const void* from, size_t bytes, gpu::Stream stream) {
    const auto* piece = static_cast<const float*>(from);
    if (pieces.empty()) staging = piece;
    pieces.push_back(bytes);
    const float* next = piece + bytes / sizeof(float);
    if (next < staging + kPieces && *next != 0) ahead = true;
    return testing::fake::upload(to, from, bytes, stream);
  }
  Target target() {
    static const gpu::Runtime runtime = [] {
      gpu::Runtime made = testing::fake_runtime();
      made.upload = upload;
      return made;
    }();
    Target made = testing::fake_target();
    made.gpu = *gpu::Gpu::open(runtime, 0);
    return made;
  }
};

TEST_F(StagedPieces, AreUploadedBeforeTheNextIsStaged) {
  Target on = target();
  auto built = build_plan(graph_of(negation(kPieces)), {.capture = true, .threads = 0}, {.target = &on});
  ASSERT_TRUE(built) << built.error().message;
  auto session = Session::create(std::make_shared<Plan>(std::move(built->plan)), nullptr);
  ASSERT_TRUE(session) << session.error().message;
  std::vector<float> x(kPieces, 3);
  ASSERT_TRUE(session->bind_input(0, Place::host, x.data()));
  pieces.clear();
  ASSERT_TRUE(session->run());
  EXPECT_THAT(pieces, ElementsAre(512 << 10, 512 << 10, kPieces * sizeof(float) - (1 << 20)));
  EXPECT_FALSE(ahead);
}

// On a device that notes what it is asked for.
TEST(MarksOfRuns, AreOfWhatMustBeWaitedFor) {
  Target on{.kind = "fake", .name = "fake", .fingerprint = "fake", .machine = Machine(cpu::cpu_info())};
  on.kernels = testing::fake_rows();
  on.gpu = testing::counting_gpu();
  auto built = build_plan(graph_of(negation(4)), {.capture = true, .threads = 0}, {.target = &on});
  ASSERT_TRUE(built) << built.error().message;
  auto session = Session::create(std::make_shared<Plan>(std::move(built->plan)), nullptr);
  auto side = gpu::Queue::make(*on.gpu);
  auto x = on.gpu->allocate(16);
  ASSERT_TRUE(session && side && x);
  const auto marks = [&] {
    testing::ledger().calls.clear();
    EXPECT_TRUE(session->run_async((*side)->stream()));
    const auto& calls = testing::ledger().calls;
    return std::count_if(calls.begin(), calls.end(), [](const auto& call) { return call.starts_with("record"); });
  };
  ASSERT_TRUE(session->bind_input(0, Place::device, gpu::device_pointer((*x)->address())));
  EXPECT_EQ(marks(), 1) << "the end";
  ASSERT_TRUE(session->own_input(0, Place::host));
  EXPECT_EQ(marks(), 2) << "the end, and where own memory may be written again";
  EXPECT_TRUE(session->wait());
}

}  // namespace
}  // namespace rung
