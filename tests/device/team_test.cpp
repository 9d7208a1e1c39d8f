// The team: every thread runs, barriers order phases, sleepers wake, and destruction never hangs.
// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/start_team.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <thread>

#include "support/address_space_limit.hpp"
#include "support/signal_masks.hpp"

namespace rung::cpu {
namespace {

class TeamOf : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Threads, TeamOf, testing::Values(1, 2, 3, 8));

constexpr int kFarBeyondIdleSpinMs = 5;
void let_workers_sleep() { std::this_thread::sleep_for(std::chrono::milliseconds(kFarBeyondIdleSpinMs)); }

TEST_P(TeamOf, RunsEveryThreadOncePerRun) {
  Team team(GetParam());
  std::vector<int> calls(static_cast<size_t>(team.size()), 0);
  for (int i = 0; i < 2000; ++i) team.run([&](int thread) { ++calls[static_cast<size_t>(thread)]; });
  for (int count : calls) EXPECT_EQ(count, 2000);
}

TEST_P(TeamOf, SeesWhatOthersWroteBeforeTheBarrier) {
  Team team(GetParam());
  size_t size = static_cast<size_t>(team.size());
  std::vector<int64_t> values(size, 0), sums(size, 0);
  constexpr int kPhases = 500;
  team.run([&](int thread) {
    size_t me = static_cast<size_t>(thread);
    for (int phase = 1; phase <= kPhases; ++phase) {
      values[me] = phase * (thread + 1);
      team.barrier();
      int64_t sum = std::accumulate(values.begin(), values.end(), int64_t{0});
      sums[me] += sum == phase * static_cast<int64_t>(size * (size + 1) / 2);
      team.barrier();
    }
  });
  for (int64_t right : sums) EXPECT_EQ(right, kPhases);
}

TEST_P(TeamOf, CallerSeesResultsAsSoonAsRunReturns) {
  Team team(GetParam());
  std::vector<int> values(static_cast<size_t>(team.size()), 0);
  for (int i = 1; i <= 2000; ++i) {
    team.run([&](int thread) { values[static_cast<size_t>(thread)] = i; });
    for (int value : values) ASSERT_EQ(value, i);
  }
}

TEST_P(TeamOf, WakesWorkersThatFellAsleep) {
  Team team(GetParam());
  for (int i = 0; i < 20; ++i) {
    std::atomic<int> calls{0};
    let_workers_sleep();
    team.run([&](int) { ++calls; });
    EXPECT_EQ(calls, team.size());
  }
}

TEST_P(TeamOf, EndsWhileItsWorkersSleepSpinOrNeverRan) {
  for (int i = 0; i < 10; ++i) {
    { Team never_ran(GetParam()); }
    Team team(GetParam());
    team.run([](int) {});
    if (i % 2) let_workers_sleep();
  }
}

TEST_P(TeamOf, WorksPinned) {
  Team team(GetParam(), Pinning::cores);
  std::atomic<int> calls{0};
  for (int i = 0; i < 100; ++i) team.run([&](int) { ++calls; });
  EXPECT_EQ(calls, 100 * team.size());
}

TEST(Team, OfNoneIsOne) {
  Team team(0);
  EXPECT_EQ(team.size(), 1);
}

TEST_P(TeamOf, HandlesNoSignalsOnItsWorkers) {
  Team team(GetParam());
  std::atomic<int> held{0}, faults_held{0};
  team.run([&](int) { held += is_held(SIGALRM), faults_held += is_held(SIGSEGV); });
  EXPECT_EQ(held, team.size() - 1);
  EXPECT_EQ(faults_held, 0);
  EXPECT_FALSE(is_held(SIGALRM));
}

TEST(Team, OfACountThatItCannotHaveIsAnError) {
  for (int threads : {-1, 0, 1025, 100000}) {
    auto team = start_team(threads);
    ASSERT_FALSE(team) << threads;
    EXPECT_EQ(team.error().message, "got " + std::to_string(threads) + " threads, wanted 1 to 1024");
  }
}

TEST(Team, WhoseThreadsAreNotToBeHadIsAnErrorAndLeavesNone) {
  if (!kLimitable) GTEST_SKIP() << "a sanitizer's own memory knows no limit";
  int before = count_threads();
  {
    AddressSpaceLimit limit(size_t{200} << 20);  // stacks of 8 MB, as a rule
    auto team = start_team(1000);
    ASSERT_FALSE(team);
    EXPECT_EQ(team.error().message.find("cannot start 1000 threads: "), 0u) << team.error().message;
  }
  for (int wait = 0; count_threads() > before && wait < 1000; ++wait) let_workers_sleep();  // joined ones vanish soon
  EXPECT_EQ(count_threads(), before);
}

TEST(Share, CoversEveryItemOnceInOrder) {
  for (int64_t count : {0, 1, 5, 64, 129})
    for (int threads : {1, 2, 3, 8})
      for (int64_t grain : {1, 4, 16}) {
        int64_t next = 0;
        for (int thread = 0; thread < threads; ++thread) {
          Range part = share(count, thread, threads, grain);
          EXPECT_EQ(part.begin, next);
          EXPECT_TRUE(part.begin == count || part.begin % grain == 0);
          next = part.end;
        }
        EXPECT_EQ(next, count);
      }
}

TEST(Share, GivesNoThreadMoreThanAGrainAboveAnother) {
  for (int64_t count : {64, 129, 1000})
    for (int threads : {2, 3, 8})
      for (int64_t grain : {1, 4, 16}) {
        int64_t least = count, most = 0;
        for (int thread = 0; thread < threads; ++thread) {
          Range part = share(count, thread, threads, grain);
          least = std::min(least, part.end - part.begin);
          most = std::max(most, part.end - part.begin);
        }
        EXPECT_LE(most - least, 2 * grain - 1) << count << " over " << threads << " by " << grain;  // the last is cut
      }
}

}  // namespace
}  // namespace rung::cpu
