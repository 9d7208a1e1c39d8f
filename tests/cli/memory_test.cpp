// What the tool does where memory is short: nothing is started before a command needs it.
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <thread>

#include "cli/tool.hpp"
#include "support/pace.hpp"

namespace rung {
namespace {

// The exit code of a process that is ended after that many seconds: it hangs.
int exit_code_within(const Tool::Process& process, int seconds) {
  int status = 0;
  for (int i = 0; i < 100 * seconds; ++i) {
    if (waitpid(process.pid, &status, WNOHANG) == process.pid)
      return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  kill(process.pid, SIGKILL);
  waitpid(process.pid, &status, 0);
  ADD_FAILURE() << "not done after " << seconds << " s";
  return -1;
}

TEST(ShortMemory, IsEnoughToPrintVersionAndOptions) {
  if (kPace > 1) GTEST_SKIP() << "a sanitizer reserves terabytes of address space";
  Tool tool;
  tool.limit_memory(200'000'000);
  for (const char* command : {"--version", "--help", "options"})
    ASSERT_EQ(exit_code_within(tool.start({command}), 20), 0) << command;
}

TEST(ShortStack, IsRaisedOrRefused) {
  if (kPace > 1) GTEST_SKIP() << "a sanitizer's frames are larger";
  Tool tool;
  rlimit own{};
  ASSERT_EQ(getrlimit(RLIMIT_STACK, &own), 0);
  const std::vector<std::string> bench{"bench", bert_tiny(), "--shape", kShape, "--runs", "2", "--threads", "2"};
  tool.limit_stack(64 << 10, own.rlim_max);
  const Ran ran = tool.run(bench);
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  tool.limit_stack(64 << 10, 64 << 10);
  expect_error(tool.run(bench), 2, "the limit of the stack (ulimit -s): got 64 KiB, wanted at least 256 KiB");
}

}  // namespace
}  // namespace rung
