// The team: every part is done once, sections follow each other, nobody waits for a thread that does nothing, sleepers
// wake, and destruction never hangs.
// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/start_team.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <numeric>
#include <optional>
#include <thread>

#include "device/cpu/cpu_info.hpp"
#include "support/address_space_limit.hpp"
#include "support/held_workers.hpp"
#include "support/signal_masks.hpp"

namespace rung::cpu {
namespace {

class TeamOf : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Threads, TeamOf, ::testing::Values(1, 2, 3, 8));

constexpr int kFarBeyondIdleSpinMs = 5;
void let_workers_sleep() { std::this_thread::sleep_for(std::chrono::milliseconds(kFarBeyondIdleSpinMs)); }

TEST_P(TeamOf, RunsEveryThreadOnceWhereAllAreWanted) {
  Team team(GetParam());
  std::vector<int> calls(static_cast<size_t>(team.size()), 0);
  for (int i = 0; i < 2000; ++i) team.run_on_all([&](int thread) { ++calls[static_cast<size_t>(thread)]; });
  for (int count : calls) EXPECT_EQ(count, 2000);
}

TEST_P(TeamOf, DoesEachPartOnce) {
  Team team(GetParam());
  for (int parts : {0, 1, 2, 3, 7, 64, 1000}) {
    std::vector<int> calls(static_cast<size_t>(parts), 0);
    for (int i = 0; i < 50; ++i) team.run(parts, [&](int part, int) { ++calls[static_cast<size_t>(part)]; });
    for (int count : calls) EXPECT_EQ(count, 50) << parts;
  }
}

TEST_P(TeamOf, DoesAsManyPartsAsThereCanBe) {
  Team team(GetParam());
  std::vector<char> calls(kMostParts, 0);
  team.run(kMostParts, [&](int part, int) { ++calls[static_cast<size_t>(part)]; });
  EXPECT_EQ(std::count(calls.begin(), calls.end(), 1), kMostParts);
}

// Each part writes one more than all parts of the section before wrote.
TEST_P(TeamOf, BeginsNoSectionBeforeTheLastIsDone) {
  Team team(GetParam());
  const std::vector<int> parts{5, 1, 3, 8, 3, 16, 2};
  for (int round = 0; round < 300; ++round) {
    std::vector<std::vector<int64_t>> values;
    for (int count : parts) values.emplace_back(count, 0);
    team.run(parts, [&](size_t section, int part, int) {
      const auto before = section == 0 ? std::vector<int64_t>{} : values[section - 1];
      values[section][static_cast<size_t>(part)] = 1 + std::accumulate(before.begin(), before.end(), int64_t{0});
    });
    int64_t expected = 1;
    for (const auto& section : values) {
      for (int64_t value : section) ASSERT_EQ(value, expected);
      expected = 1 + expected * static_cast<int64_t>(section.size());
    }
  }
}

TEST_P(TeamOf, LeavesOutSectionsWithoutParts) {
  Team team(GetParam());
  const std::vector<int> parts{0, 0, 4, 0, 2, 0};
  std::vector<std::atomic<int>> calls(parts.size());
  for (int i = 0; i < 100; ++i) team.run(parts, [&](size_t section, int, int) { ++calls[section]; });
  for (size_t s = 0; s < parts.size(); ++s) EXPECT_EQ(calls[s], 100 * parts[s]);
  team.run(std::vector<int>{}, [&](size_t, int, int) { FAIL(); });
  team.run(std::vector<int>{0, 0}, [&](size_t, int, int) { FAIL(); });
}

TEST_P(TeamOf, NeverGivesAThreadTwoPartsAtOnce) {
  Team team(GetParam());
  std::vector<std::atomic<int>> in_use(static_cast<size_t>(team.size()));
  std::atomic<int> twice{0};
  for (int i = 0; i < 500; ++i)
    team.run(32, [&](int, int thread) {
      auto& mine = in_use[static_cast<size_t>(thread)];
      twice += mine.fetch_add(1) != 0;
      mine.fetch_sub(1);
    });
  EXPECT_EQ(twice, 0);
}

TEST_P(TeamOf, CallerSeesResultsAsSoonAsRunReturns) {
  Team team(GetParam());
  std::vector<int> values(static_cast<size_t>(team.size()), 0);
  for (int i = 1; i <= 2000; ++i) {
    team.run(team.size(), [&](int part, int) { values[static_cast<size_t>(part)] = i; });
    for (int value : values) ASSERT_EQ(value, i);
  }
}

TEST_P(TeamOf, WakesWorkersThatFellAsleep) {
  Team team(GetParam());
  for (int i = 0; i < 20; ++i) {
    std::atomic<int> calls{0};
    let_workers_sleep();
    team.run_on_all([&](int) { ++calls; });
    EXPECT_EQ(calls, team.size());
  }
}

// A caller that waits longer than it spins; the last part takes longest.
TEST_P(TeamOf, WakesACallerThatFellAsleep) {
  Team team(GetParam());
  for (int i = 0; i < 20; ++i) {
    std::atomic<int> calls{0};
    team.run_on_all([&](int thread) {
      if (thread != 0) let_workers_sleep();
      ++calls;
    });
    EXPECT_EQ(calls, team.size());
  }
}

// Workers sleep while one part keeps the others waiting, and are woken for the section that follows.
TEST_P(TeamOf, WakesWorkersWithinARun) {
  Team team(GetParam());
  std::atomic<int> here{0};
  std::atomic<bool> all_at_once{true};
  const std::vector<int> parts{1, team.size()};
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  team.run(parts, [&](size_t section, int, int) {
    if (section == 0) return let_workers_sleep();
    ++here;
    while (here < team.size() && std::chrono::steady_clock::now() < give_up) std::this_thread::yield();
    if (here < team.size()) all_at_once = false;
  });
  EXPECT_TRUE(all_at_once);
  EXPECT_EQ(here, team.size());
}

TEST_P(TeamOf, EndsWhetherItsWorkersSleepOrSpin) {
  for (int i = 0; i < 10; ++i) {
    { Team never_ran(GetParam()); }
    Team team(GetParam());
    team.run(team.size(), [](int, int) {});
    if (i % 2) let_workers_sleep();
  }
}

TEST_P(TeamOf, WorksPinned) {
  Team team(GetParam(), Pinning::cores);
  std::atomic<int> calls{0};
  for (int i = 0; i < 100; ++i) team.run(team.size(), [&](int, int) { ++calls; });
  EXPECT_EQ(calls, 100 * team.size());
}

// The i-th thread on the i-th core that the process may use, and the caller where it was.
TEST(Team, PinsEachWorkerToItsCoreOnRequest) {
  const auto cores_of_this_thread = [] {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    pthread_getaffinity_np(pthread_self(), sizeof allowed, &allowed);
    std::vector<int> cores;
    for (int core = 0; core < CPU_SETSIZE; ++core)
      if (CPU_ISSET(core, &allowed)) cores.push_back(core);
    return cores;
  };
  const std::vector<int> all = cores_of_this_thread();
  const int fitting = cpu_info().cores;
  for (const int threads : {fitting, fitting + 1})
    for (const Pinning pinning : {Pinning::none, Pinning::cores}) {
      Team team(threads, pinning);
      std::vector<std::vector<int>> cores(static_cast<size_t>(threads));
      team.run_on_all([&](int thread) { cores[static_cast<size_t>(thread)] = cores_of_this_thread(); });
      for (size_t thread = 0; thread < cores.size(); ++thread) {
        const bool pinned = thread != 0 && pinning == Pinning::cores && threads == fitting;
        EXPECT_EQ(cores[thread], pinned ? std::vector<int>{all[thread]} : all) << thread << " of " << threads;
      }
    }
}

TEST_P(TeamOf, ThrowsWhatAPartThrewAndStopsThere) {
  Team team(GetParam());
  const std::vector<int> parts{4, 4};
  std::atomic<int> later{0};
  for (int i = 0; i < 20; ++i) {
    const auto throwing = [&](size_t section, int part, int) {
      later += section == 1;
      if (part == i % 4) throw i;
    };
    try {
      team.run(parts, throwing);
      FAIL() << "nothing was thrown";
    } catch (int thrown) {
      EXPECT_EQ(thrown, i);
    }
    std::atomic<int> calls{0};
    team.run(8, [&](int, int) { ++calls; });
    EXPECT_EQ(calls, 8) << "after the throw";
  }
  EXPECT_EQ(later, 0);
}

TEST_P(TeamOf, RunsWithinARunOnTheSameThread) {
  Team team(GetParam());
  std::vector<std::unique_ptr<Team>> others;  // by thread
  for (int i = 0; i < team.size(); ++i) others.push_back(std::make_unique<Team>(1));
  std::atomic<int> inner{0}, through_another{0};
  for (int i = 0; i < 50; ++i)
    team.run_on_all([&](int thread) {
      team.run(3, [&](int, int same) { inner += same == thread; });
      others[static_cast<size_t>(thread)]->run(
          1, [&](int, int) { team.run(2, [&](int, int same) { through_another += same == thread; }); });
    });
  EXPECT_EQ(inner, 50 * team.size() * 3);
  EXPECT_EQ(through_another, 50 * team.size() * 2);
}

// ---- threads that are stopped

TEST_P(TeamOf, WaitsForNoWorkerThatHasClaimedNothing) {
  Team team(GetParam(), Pinning::none, HeldWorkers::hold);
  std::optional<HeldWorkers> held(std::in_place);
  std::atomic<int> calls{0}, by_workers{0};
  const std::vector<int> parts{3, 8, 1, 0, 5};
  for (int i = 0; i < 100; ++i) team.run(parts, [&](size_t, int, int thread) { ++calls, by_workers += thread != 0; });
  EXPECT_EQ(calls, 100 * 17);
  EXPECT_EQ(by_workers, 0);
  held.reset();
  calls = 0;
  team.run_on_all([&](int) { ++calls; });
  EXPECT_EQ(calls, team.size()) << "once they are let go";
}

// Whoever takes the first part of a lane keeps it until all others are done, as one whose core is gone would.
TEST_P(TeamOf, LetsAHeldThreadDelayOnlyOnePart) {
  if (GetParam() == 1) GTEST_SKIP() << "nobody else is there";
  for (int held : {0, 8}) {
    Team team(2);
    std::atomic<int> done{0};
    bool alone = true;
    team.run(16, [&](int part, int) {
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
      while (part == held && done < 15 && alone) alone = std::chrono::steady_clock::now() < end;
      ++done;
    });
    EXPECT_TRUE(alone) << "part " << held << " waited for others that waited for it";
  }
}

TEST(Team, OfNoneIsOne) {
  Team team(0);
  EXPECT_EQ(team.size(), 1);
}

TEST_P(TeamOf, HandlesNoSignalsOnItsWorkers) {
  Team team(GetParam());
  std::atomic<int> held{0}, faults_held{0};
  team.run_on_all([&](int) { held += is_held(SIGALRM), faults_held += is_held(SIGSEGV); });
  EXPECT_EQ(held, team.size() - 1);
  EXPECT_EQ(faults_held, 0);
  EXPECT_FALSE(is_held(SIGALRM));
}

TEST(Team, OfAnImpossibleSizeIsAnError) {
  for (int threads : {-1, 0, 1025, 100000}) {
    auto team = start_team(threads);
    ASSERT_FALSE(team) << threads;
    EXPECT_EQ(team.error().message, "got " + std::to_string(threads) + " threads, wanted 1 to 1024");
  }
}

TEST(Team, ThatCannotStartFailsAndLeavesNoThreads) {
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

TEST(Share, DiffersBetweenThreadsByAtMostAGrain) {
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

// Pieces of what one part has, as rows of attention and of linear layers cut it.
TEST(Piece, CoversTheWholeInOrderAtItsGrain) {
  for (const int64_t begin : {0, 3, 16, 100})
    for (const int64_t count : {0, 1, 5, 16, 64, 129})
      for (const int pieces : {1, 2, 3, 8})
        for (const int64_t grain : {1, 4, 16}) {
          const Range whole{begin, begin + count};
          int64_t next = whole.begin;
          for (int index = 0; index < pieces; ++index) {
            const Range mine = piece(whole, index, pieces, grain);
            ASSERT_EQ(mine.begin, next);
            ASSERT_GE(mine.end, mine.begin);
            ASSERT_TRUE(index == 0 || mine.begin == whole.end || mine.begin % grain == 0) << mine.begin;
            ASSERT_LE(mine.count(), count / pieces + 1 + grain);
            next = mine.end;
          }
          ASSERT_EQ(next, whole.end);
        }
}

}  // namespace
}  // namespace rung::cpu
