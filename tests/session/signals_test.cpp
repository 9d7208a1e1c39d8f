// A host whose timer signals a thousand times a second: no handler runs while oneDNN's code has the stack pointer in
// its data, nor on a thread of ours.
// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>

#include "plan/support.hpp"
#include "support/pace.hpp"

namespace rung {
namespace {

// Sums longer than the library holds on the stack.
constexpr const char* kLongText =
    "w: f32[96,1536] = constant(name=\"w\")\n"
    "x: f32[1,128,1536] = input()\n"
    "h: f32[1,128,96] = linear(x, w)\n"
    "y: f32[1,128,128] = matmul(x, transpose(x, permutation=[0,2,1]))\n"
    "return h=h, y=y";

// Counts what a handler finds: signals, and those at which a plain handler would have written elsewhere than to the
// test thread's stack. It has a stack of its own, so that the test fails instead of crashing.
class Alarm {
 public:
  Alarm() {
    pthread_attr_t attributes;
    void* lowest = nullptr;
    size_t bytes = 0;
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstack(&attributes, &lowest, &bytes);
    pthread_attr_destroy(&attributes);
    s_stack = static_cast<std::byte*>(lowest), s_stack_end = s_stack + bytes;
    s_signals = 0, s_astray = 0;
    stack_t own{.ss_sp = stack_.data(), .ss_flags = 0, .ss_size = stack_.size()};
    sigaltstack(&own, &stack_before_);
    struct sigaction action {};
    action.sa_sigaction = handle;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    sigaction(SIGALRM, &action, &before_);
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD_ID;  // this thread: another of the process could not take it
    event.sigev_signo = SIGALRM;
    event._sigev_un._tid = gettid();
    timer_create(CLOCK_MONOTONIC, &event, &timer_);
    const itimerspec every{.it_interval = {0, 1'000'000}, .it_value = {0, 1'000'000}};
    timer_settime(timer_, 0, &every, nullptr);
  }
  ~Alarm() {
    timer_delete(timer_);
    sigaction(SIGALRM, &before_, nullptr);
    sigaltstack(&stack_before_, nullptr);
  }
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;

  static int signals() { return s_signals; }
  static int astray() { return s_astray; }

 private:
  static void handle(int, siginfo_t*, void* context) {
    auto sp = static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RSP];
    auto* at = std::bit_cast<std::byte*>(sp);
    ++s_signals;
    if (at < s_stack || at >= s_stack_end) ++s_astray;
  }
  static inline std::byte *s_stack = nullptr, *s_stack_end = nullptr;
  static inline std::atomic<int> s_signals{0}, s_astray{0};
  std::array<std::byte, 1 << 16> stack_{};
  stack_t stack_before_{};
  timer_t timer_{};
  struct sigaction before_ {};
};

struct Run {
  bool capture;
  int threads;
};

class Signals : public ::testing::TestWithParam<Run> {
 protected:
  Session session = [] {
    Plan plan = plan_of(kLongText, {.capture = GetParam().capture, .threads = GetParam().threads});
    EXPECT_THAT(kernels_of(plan), ::testing::IsSupersetOf({"linear_onednn", "matmul_onednn"}));
    return session_over(std::move(plan));
  }();
};

TEST_P(Signals, OfATimerComeBetweenOneDnnsRuns) {
  const Outputs want = outputs_of(session, {{"x", random_tensor("x", {DType::f32, {1, 128, 1536}})}});
  const Alarm alarm;
  auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(200 * kPace);
  do ASSERT_TRUE(session.run());
  while (std::chrono::steady_clock::now() < end);
  EXPECT_EQ(Alarm::astray(), 0);
  EXPECT_GT(Alarm::signals(), 5);
  const Outputs got = *session.outputs();
  for (size_t i = 0; i < want.size(); ++i) EXPECT_TRUE(same_bits(got[i].second, want[i].second));
}

TEST_P(Signals, OfATimerComeBetweenOneDnnsLaunches) {
  outputs_of(session, {{"x", random_tensor("x", {DType::f32, {1, 128, 1536}})}});
  const Alarm alarm;
  auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(100 * kPace);
  do
    for (size_t i = 0; i < session.plan().steps.size(); ++i) ASSERT_TRUE(session.recorder().run_step(i));
  while (std::chrono::steady_clock::now() < end);
  EXPECT_EQ(Alarm::astray(), 0);
  EXPECT_GT(Alarm::signals(), 5);
}

// oneDNN's code for AVX2 takes the stack pointer, its newer code does not: a process of its own is told to use the
// older.
TEST(SignalsOnOlderProcessors, ComeBetweenOneDnnsLaunches) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const std::string command =
      "ONEDNN_MAX_CPU_ISA=AVX2 '" + self + "' --gtest_filter='Recorders/Signals.*' --gtest_brief=1";
  EXPECT_EQ(std::system(command.c_str()), 0);
}

INSTANTIATE_TEST_SUITE_P(Recorders, Signals,
                         ::testing::Values(Run{false, 1}, Run{false, 2}, Run{true, 1}, Run{true, 2}));

}  // namespace
}  // namespace rung
