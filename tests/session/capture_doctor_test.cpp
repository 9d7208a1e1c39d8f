// What is said and refused before a launch list becomes a graph; on a device that is not there.
// SPDX-License-Identifier: Apache-2.0
#include "session/capture_doctor.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "kernels/gpu/copy/copy_ranges.hpp"
#include "kernels/gpu/kernel.hpp"
#include "plan/build.hpp"
#include "session/session.hpp"
#include "support/fake_gpu.hpp"
#include "support/graphs.hpp"

namespace rung {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

// What the row below does besides launching.
enum class Habit { none, allocates_first, allocates, waits, copies };
Habit habit = Habit::none;
int calls = 0;
std::function<void()> between_launches;

Status enqueue(const gpu::Call& call) {
  ++calls;
  if (between_launches) between_launches();
  if (habit == Habit::allocates || (habit == Habit::allocates_first && calls == 1)) (void)call.gpu.allocate(64);
  if (habit == Habit::waits) (void)call.queue.wait();
  if (habit == Habit::copies) (void)call.queue.upload(call.output, &calls, sizeof calls);
  return {};
}

const Kernel kRow{.name = "unary_fake",
                  .op = "unary",
                  .supports = [](const Problem&, const Machine&) { return accept(); },
                  .scratch_bytes = [](const Problem&, const Machine&) { return size_t{32}; },
                  .enqueue = enqueue};
const Kernel* const kRows[] = {&kRow};

class Capture : public ::testing::Test {
 protected:
  Result<Session> session(Habit wanted, bool capture = true) {
    habit = wanted, calls = 0;
    target.kind = target.name = target.fingerprint = "fake";
    target.kernels = kRows;
    target.gpu = testing::fake_gpu();
    testing::fake_state().nodes = 2;
    return another(capture);
  }
  // On the device that is open.
  Result<Session> another(bool capture = true) {
    auto built = build_plan(graph, {.capture = capture}, {.target = &target});
    EXPECT_TRUE(built) << built.error().message;
    return Session::create(std::make_shared<Plan>(std::move(built->plan)), nullptr);
  }
  std::vector<std::string> notes(Habit wanted, bool capture = true) {
    auto made = session(wanted, capture);
    EXPECT_TRUE(made) << made.error().message;
    return made ? made->recorder().capture_notes() : std::vector<std::string>{};
  }
  std::string error(Habit wanted) {
    auto made = session(wanted);
    return made ? "" : made.error().message;
  }
  Graph graph = graph_of("x: f32[4] = input()\ny: f32[4] = neg(x)\nz: f32[4] = exp(y)\nreturn z=z");
  Target target{.machine = Machine(cpu::cpu_info())};
};

TEST_F(Capture, SaysThatAllLaunchesAreOneGraph) {
  auto said = notes(Habit::none);
  EXPECT_THAT(said, Contains(HasSubstr("2 launches looked at")));
  const int loaded = *gpu::RangeCopies::make(*target.gpu) ? 1 : 0;  // the copies around a run
  EXPECT_THAT(said, Contains(HasSubstr(fmt::format("loaded {0} modules and {0} kernels", loaded))));
  EXPECT_THAT(said, Contains(HasSubstr("one graph of 2 nodes")));
  EXPECT_THAT(said, Contains(HasSubstr("2 launches have a workspace: in the plan's arena")));
  EXPECT_EQ(testing::fake_state().captures, 1u);
}

TEST_F(Capture, WarmsWhatHappensOnlyTheFirstTime) {
  auto said = notes(Habit::allocates_first);
  EXPECT_THAT(said, Contains(AllOf(HasSubstr("allocations of device memory: 1"), HasSubstr("warmed by that run"))));
  EXPECT_THAT(said, Contains(HasSubstr("the second time: no allocation")));
}

TEST_F(Capture, RefusesWhatHappensInEveryRunByName) {
  EXPECT_THAT(error(Habit::allocates), HasSubstr("on unary_fake allocates device memory in every run"));
  EXPECT_THAT(error(Habit::waits), HasSubstr("waits for the device in every run"));
  EXPECT_THAT(error(Habit::copies), HasSubstr("in every run, which a graph cannot hold"));
  EXPECT_EQ(testing::fake_state().captures, 0u);
}

TEST_F(Capture, IsNotRefusedForWhatAnotherThreadDoes) {
  std::atomic<bool> end = false;
  std::thread other;
  between_launches = [&] {  // the device is open by now
    if (!other.joinable())
      other = std::thread([&] {
        auto queue = gpu::Queue::make(*target.gpu);
        int64_t value = 0;
        for (auto block = *target.gpu->allocate(8); !end;) (void)(*queue)->upload(block->address(), &value, 8);
      });
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  };
  auto made = session(Habit::none);
  end = true;
  other.join();
  between_launches = nullptr;
  EXPECT_TRUE(made) << made.error().message;
}

TEST_F(Capture, DisturbsNoSessionThatRunsMeanwhile) {
  auto running = session(Habit::none);
  ASSERT_TRUE(running) << running.error().message;
  ASSERT_TRUE(running->set_inputs({{"x", Tensor::of<float>({4}, {0, 1, 2, 3})}}));
  Status ran;
  int runs = 0;
  between_launches = [&] {
    std::thread([&] {
      ++runs;
      if (ran) ran = running->run();
    }).join();
  };
  auto made = another();
  between_launches = nullptr;
  EXPECT_TRUE(made) << made.error().message;
  EXPECT_TRUE(ran) << ran.error().message;
  EXPECT_EQ(runs, 3 * 2) << "of two launches, looked at twice and recorded";
  EXPECT_EQ(testing::fake_state().refused, 0u);
}

TEST_F(Capture, LeavesEagerLaunchesAlone) {
  EXPECT_TRUE(notes(Habit::allocates, false).empty());
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(testing::fake_state().captures, 0u);
}

// Rows declare where operands begin; a call that gives them others reaches no row.
TEST_F(Capture, ChecksWhereEveryCallsMemoryBegins) {
  habit = Habit::none, calls = 0;
  auto gpu = testing::fake_gpu();
  auto queue = *gpu::Queue::make(*gpu);
  Kernel row = kRow;
  row.alignment = 16;
  const Type type{DType::f32, {4}};
  const Operand operand{type.dtype, type.shape, contiguous_strides(type.shape)};
  const Problem problem{.op = Unary{}, .inputs = {operand}, .output = operand, .threads = 0};
  const auto error = [&](gpu::Address input, gpu::Address output, gpu::Address scratch) {
    Status done = gpu::enqueue(row, {problem, &input, output, scratch, nullptr, gpu::Address{0}, *queue});
    return done ? "" : done.error().message;
  };
  EXPECT_EQ(error(0x1010, 0x2000, 0x3000), "");
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(error(0x1008, 0x2000, 0x3000), "unary_fake: operand 0 begins at 0x1008, wanted a multiple of 16 bytes");
  EXPECT_THAT(error(0x1010, 0x2040, 0x3000), HasSubstr("the result begins at 0x2040"));
  EXPECT_THAT(error(0x1010, 0x2000, 0x3040), HasSubstr("scratch at 0x3040, wanted multiples of 256 bytes"));
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace rung
