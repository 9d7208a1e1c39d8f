// Signals to the tool: which end it, how its end shows, and that it leaves nothing.
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/tool.hpp"
#include "support/pace.hpp"

namespace rung {
namespace {

using testing::ContainsRegex;
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

TEST(Interrupts, IgnoredWhenTheToolStartsStayIgnored) {
  Tool tool;
  tool.ignore(SIGHUP);
  auto climb = tool.start({"climb", bert_tiny(), "--budget", budget(1), "--out", tool / "out"});
  expect_said(climb, "rung: reference");
  kill(climb.pid, SIGHUP), kill(climb.pid, SIGHUP);
  Ran ran = Tool::wait(climb);
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.err, Not(HasSubstr("interrupted")));
}

// What a process says and how it ends when `signal` comes once it has run for a moment.
Ran interrupted_after_a_moment(Tool& tool, const std::vector<std::string>& arguments, int signal = SIGINT) {
  auto process = tool.start(arguments);
  std::this_thread::sleep_for(std::chrono::milliseconds(700));
  kill(process.pid, signal);
  return Tool::wait(process);
}

class MeasuringInterrupted : public testing::TestWithParam<int> {};

TEST_P(MeasuringInterrupted, BenchTellsTheRunsByThen) {
  Tool tool;
  const Ran ran = interrupted_after_a_moment(tool, {"bench", bert_tiny(), "--runs", "1000000"}, GetParam());
  EXPECT_EQ(ran.exit_code, 128 + GetParam());
  EXPECT_THAT(error_line(ran), ContainsRegex("interrupted after [1-9][0-9]* of 1000000 runs"));
  EXPECT_THAT(ran.out, HasSubstr("median "));
  EXPECT_THAT(ran.out, HasSubstr("cold –"));
}

TEST_P(MeasuringInterrupted, ReplaysTellHowManyAgreed) {
  Tool tool;
  const Ran ran = interrupted_after_a_moment(tool, {"verify", bert_tiny(), "--replays", "100000000"}, GetParam());
  EXPECT_EQ(ran.exit_code, 128 + GetParam());
  EXPECT_THAT(error_line(ran), ContainsRegex("interrupted after [1-9][0-9]* of 100000000 replays"));
  EXPECT_THAT(ran.out, ContainsRegex("^[1-9][0-9,]* replays: bit-identical"));
}

TEST_P(MeasuringInterrupted, ProfileEndsWithOneLine) {
  Tool tool;
  const Ran ran = interrupted_after_a_moment(tool, {"profile", bert_tiny()}, GetParam());
  EXPECT_EQ(ran.exit_code, 128 + GetParam());
  EXPECT_EQ(ran.err, "rung: error: interrupted\n");
  EXPECT_EQ(ran.out, "");
}

INSTANTIATE_TEST_SUITE_P(Signals, MeasuringInterrupted, testing::Values(SIGINT, SIGTERM, SIGHUP));

TEST(Interrupts, ASlowCadenceEndsBeforeItsNextRun) {
  Tool tool;
  const auto began = std::chrono::steady_clock::now();
  const Ran ran = interrupted_after_a_moment(tool, {"bench", bert_tiny(), "--rate", "0.01"});  // a run each 100 s
  EXPECT_EQ(ran.exit_code, 128 + SIGINT);
  EXPECT_THAT(error_line(ran), HasSubstr("interrupted after 1 of 200 runs"));
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(50));
}

TEST(Interrupts, GiveOneObjectWhereJsonIsAskedFor) {
  Tool tool;
  const Ran bench = interrupted_after_a_moment(tool, {"bench", bert_tiny(), "--runs", "1000000", "--json"});
  const auto told = nlohmann::json::parse(bench.out, nullptr, false);
  ASSERT_TRUE(told.is_object()) << bench.out;
  EXPECT_EQ(told["interrupted"], true);
  EXPECT_GT(told["runs"], 0);
  EXPECT_TRUE(told["cold_median_ms"].is_null());
  const Ran profile = interrupted_after_a_moment(tool, {"profile", bert_tiny(), "--json"});
  EXPECT_EQ(nlohmann::json::parse(profile.out, nullptr, false)["error"]["kind"], "interrupted") << profile.out;
}

TEST(Interrupts, EndVerificationAtOnce) {
  Tool tool;
  const Ran ran = interrupted_after_a_moment(tool, {"verify", std::string(RUNG_TEST_DATA) + "/pi0_tiny", "--bisect"});
  if (ran.exit_code == 0) GTEST_SKIP() << "it was done before";
  EXPECT_EQ(ran.exit_code, 128 + SIGINT);
  EXPECT_EQ(ran.err, "rung: error: interrupted\n");
}

}  // namespace
}  // namespace rung
