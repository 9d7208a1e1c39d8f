// Signals to the tool: which end it, how its end shows, and that it leaves nothing.
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <thread>

#include "cli/tool.hpp"
#include "support/pace.hpp"

namespace rung {
namespace {

using testing::HasSubstr;
using testing::Not;

// Until the process's standard error holds `text`.
void expect_said(const Tool::Process& process, const std::string& text) {
  auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (read_text_file(process.err).value_or("").find(text) == std::string::npos) {
    ASSERT_LT(std::chrono::steady_clock::now(), end) << text;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

class Interrupted : public testing::TestWithParam<int> {
 protected:
  Tool::Process start_climb() {
    return tool.start({"climb", bert_tiny(), "--budget", budget(30), "--out", tool / "out"});
  }
  Tool tool;
};

TEST_P(Interrupted, ClimbSaysSoAndEndsByThatSignal) {
  auto climb = start_climb();
  expect_said(climb, "rung: reference");
  kill(climb.pid, GetParam());
  Ran ran = Tool::wait(climb);
  EXPECT_EQ(ran.exit_code, 128 + GetParam());
  EXPECT_THAT(error_line(ran), HasSubstr("interrupted"));
  EXPECT_TRUE(is_empty(tool / "out"));
}

TEST_P(Interrupted, TwiceEndsItByTheSecondAtOnce) {
  auto climb = start_climb();
  expect_said(climb, "rung: baseline");
  kill(climb.pid, SIGINT);
  kill(climb.pid, GetParam() == SIGINT ? SIGTERM : GetParam());
  Ran ran = Tool::wait(climb);
  EXPECT_THAT(ran.exit_code, testing::AnyOf(128 + SIGINT, 128 + GetParam(), 128 + SIGTERM));
  EXPECT_TRUE(is_empty(tool / "out"));
}

INSTANTIATE_TEST_SUITE_P(Signals, Interrupted, testing::Values(SIGINT, SIGTERM, SIGHUP));

TEST(Interrupts, ThatTheToolWasStartedToIgnoreStayIgnored) {
  Tool tool;
  signal(SIGHUP, SIG_IGN);  // as nohup does
  auto climb = tool.start({"climb", bert_tiny(), "--budget", budget(1), "--out", tool / "out"});
  signal(SIGHUP, SIG_DFL);
  expect_said(climb, "rung: reference");
  kill(climb.pid, SIGHUP), kill(climb.pid, SIGHUP);
  Ran ran = Tool::wait(climb);
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.err, Not(HasSubstr("interrupted")));
}

TEST(Interrupts, EndOtherCommandsAtOnce) {
  Tool tool;
  auto bench = tool.start({"bench", bert_tiny(), "--runs", "1000000"});
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  kill(bench.pid, SIGTERM);
  EXPECT_EQ(Tool::wait(bench).exit_code, 128 + SIGTERM);
}

}  // namespace
}  // namespace rung
