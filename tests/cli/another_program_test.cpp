// Candidates of a device, measured by a program that is not the tool: this one, run again on a driver whose kernels do
// nothing.
// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>

#include <csignal>
#include <fstream>
#include <iterator>
#include <vector>

#include "base/program.hpp"
#include "cli/tool.hpp"
#include "device/gpu/gpu.hpp"
#include "kernels/target.hpp"
#include "support/device.hpp"
#include "support/fake_device.hpp"
#include "tasks/climb.hpp"
#include "tune/gpu_worker.hpp"
#include "tune/worker.hpp"

namespace rung {
namespace {

int g_pipe_signals = 0;

// What this program does when it is run again: says on standard error what it found.
std::vector<Measured> measure_on_the_device() {
  auto target = open_target("cuda");
  if (!target) return {{{}, target.error().message}};
  const Operand floats{DType::f32, {64}, contiguous_strides(Shape{64})};
  const Problem problem{.op = Unary{}, .inputs = {floats}, .output = floats};
  const Candidates candidates = candidates_for(**target, problem);
  return measure_in_worker({*target, problem, candidates.list, 0, 0.001, 5, {}});
}

std::vector<pid_t> children() {
  std::ifstream listed("/proc/thread-self/children");
  return {std::istream_iterator<pid_t>(listed), {}};
}

// Ends the worker that is kept, and waits until it is gone.
void end_children() {
  for (const pid_t child : children()) {
    kill(child, SIGKILL);
    siginfo_t ended{};
    EXPECT_EQ(waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT), 0);
    fmt::print(stderr, "ended\n");
  }
}

// A copy of this process that ends as programs do: what it had a copy of stays, and serves the next job.
void fork_and_exit() {
  const std::vector<pid_t> before = children();
  const pid_t copy = fork();
  if (copy == 0) exit(0);
  EXPECT_EQ(waitpid(copy, nullptr, 0), copy);
  measure_on_the_device();
  fmt::print(stderr, "{}\n", children() == before ? "kept" : "lost");
}

TEST(InAnotherProgram, DISABLED_Measures) {
  signal(SIGPIPE, [](int) { ++g_pipe_signals; });
  for (int job = 0; job < 2; ++job) {
    if (job > 0) fork_and_exit(), end_children();
    for (const Measured& measured : measure_on_the_device())
      fmt::print(stderr, "{}\n", measured.failure.empty() ? "measured" : measured.failure);
  }
  end_gpu_worker();
  end_children();  // none is left
  fmt::print(stderr, "{} signals before, ", g_pipe_signals);
  raise(SIGPIPE);
  fmt::print(stderr, "{} after\n", g_pipe_signals);
}

TEST(InAnotherProgram, DISABLED_Climbs) {
  auto outcome = tasks::climb_model({.model = {.path = bert_tiny(), .device = device_named("cuda")}});
  if (!outcome) fmt::print(stderr, "{}: {}\n", name_of(outcome.error().kind), outcome.error().message);
}

class AnotherProgram : public OnAFakeDevice {
 protected:
  void TearDown() override {
    OnAFakeDevice::TearDown();
    unsetenv("RUNG_PROGRAM");
  }
  static std::string said_by(const std::string& test) {
    auto ended = run_program(
        kThisProgram, {"--gtest_also_run_disabled_tests", "--gtest_filter=InAnotherProgram.DISABLED_" + test}, 120);
    EXPECT_TRUE(ended) << ended.error().message;
    EXPECT_EQ(ended->exit_code, 0) << ended->how << ": " << ended->errors;
    return ended->errors;
  }
};

TEST_F(AnotherProgram, MeasuresInTheGivenToolAndRestartsIt) {
  setenv("RUNG_PROGRAM", RUNG_TOOL, 1);
  EXPECT_THAT(said_by("Measures"),
              testing::MatchesRegex("(measured\n)+kept\nended\n(measured\n)+0 signals before, 1 after\n"))
      << "its handler is there, and was not called";
}

TEST_F(AnotherProgram, IsToldWhyNothingWasMeasured) {
  setenv("RUNG_PROGRAM", "/bin/false", 1);
  EXPECT_THAT(
      said_by("Measures"),
      testing::MatchesRegex("(worker exited with 1\n)+kept\n(worker exited with 1\n)+0 signals before, 1 after\n"));
}

TEST_F(AnotherProgram, LearnsOfAMissingToolBeforeClimbing) {
  setenv("RUNG_PROGRAM", "/nowhere/rung", 1);
  EXPECT_EQ(said_by("Climbs"), "file: the tool 'rung': RUNG_PROGRAM names '/nowhere/rung', which is not a program\n");
}

}  // namespace
}  // namespace rung
