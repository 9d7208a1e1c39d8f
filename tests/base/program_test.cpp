// Programs in processes of their own: what they said, how they ended, and that none outlives its time.
// SPDX-License-Identifier: Apache-2.0
#include "base/program.hpp"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>

#include "base/limits.hpp"
#include "base/signals.hpp"

namespace rung {
namespace {

using testing::HasSubstr;

Ended shell(const std::string& script, double seconds = 60) {
  auto ended = run_program("/bin/sh", {"-c", script}, seconds);
  EXPECT_TRUE(ended) << ended.error().message;
  return ended.value_or(Ended{});
}

TEST(Program, IsHeardOnItsStandardErrorAlone) {
  Ended ended = shell("echo result; echo complaint >&2; exit 3");
  EXPECT_EQ(ended.exit_code, 3);
  EXPECT_EQ(ended.how, "exited with 3");
  EXPECT_EQ(ended.errors, "complaint\n");
}

TEST(Program, IsHeardOnItsStandardOutputOnly) {
  const auto ended = ask_program("/bin/sh", {"-c", "echo result; echo complaint >&2; exit 3"}, 60);
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->exit_code, 3);
  EXPECT_EQ(ended->output, "result\n");
  EXPECT_EQ(ended->errors, "");
  const auto endless = ask_program("/bin/sh", {"-c", "yes"}, 60);
  ASSERT_TRUE(endless);
  EXPECT_EQ(endless->exit_code, -1) << "one that says more than is read is killed";
  EXPECT_GT(endless->output.size(), kMaxTextBytes);
}

TEST(Program, FindsNoInput) { EXPECT_EQ(shell("read line || echo none >&2").errors, "none\n"); }

TEST(Program, ThatASignalEndsIsNamedWithIt) {
  Ended ended = shell("kill -SEGV $$");
  EXPECT_EQ(ended.exit_code, -1);
  EXPECT_EQ(ended.how, "ended by a signal: Segmentation fault");
}

TEST(Program, IsKilledWhenItsTimeIsOver) {
  auto begin = std::chrono::steady_clock::now();
  Ended ended = shell("echo early >&2; exec sleep 100", 0.3);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(50));
  EXPECT_EQ(ended.exit_code, -1);
  EXPECT_EQ(ended.how, "not done after 0.3 s");
  EXPECT_EQ(ended.errors, "early\n");
}

TEST(Program, ThatIsNotThereIsAnError) {
  auto ended = run_program("/nowhere/at/all", {}, 1);
  ASSERT_FALSE(ended);
  EXPECT_THAT(ended.error().message, HasSubstr("cannot start '/nowhere/at/all': No such file"));
}

TEST(Program, IgnoresSignalsHeldWhenItWasStarted) {
  Result<pid_t> child = fail("not started");
  {
    const SignalsHeld held;
    child = start_program("/bin/sh", {"-c", "kill -INT $$; kill -TERM $$; exit 7"}, {});
  }
  ASSERT_TRUE(child) << child.error().message;
  int status = 0;
  EXPECT_EQ(waitpid(*child, &status, 0), *child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << status;
}

size_t open_descriptors() {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

TEST(Program, LeavesNoDescriptorBehind) {
  shell("true");
  size_t before = open_descriptors();
  for (int i = 0; i < 3; ++i) shell("true");
  EXPECT_FALSE(run_program("/nowhere/at/all", {}, 1));
  EXPECT_EQ(open_descriptors(), before);
}

TEST(Program, TakesTheStreamsItIsGiven) {
  std::array<int, 2> out{};
  ASSERT_EQ(pipe(out.data()), 0);
  auto child = start_program("/bin/sh", {"-c", "echo \"$0\"", "two words"}, {.out = out[1]});
  ASSERT_TRUE(child) << child.error().message;
  close(out[1]);
  std::array<char, 32> text{};
  EXPECT_EQ(read(out[0], text.data(), text.size()), 10);
  EXPECT_STREQ(text.data(), "two words\n");
  close(out[0]);
  EXPECT_EQ(waitpid(*child, nullptr, 0), *child);
}

}  // namespace
}  // namespace rung
