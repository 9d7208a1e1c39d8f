// Teams under disorder: many small sections, threads that sleep where they hurt most, parts that throw.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <thread>

#include "base/random.hpp"
#include "device/cpu/team.hpp"

namespace rung::cpu {
namespace {

std::atomic<uint64_t> drawn{0};
bool one_in(uint64_t n) { return random_bits(7, drawn.fetch_add(1)) % n == 0; }

void nap() { std::this_thread::sleep_for(std::chrono::microseconds(random_bits(8, drawn.fetch_add(1)) % 300)); }
void sleep_at_times(int) {
  if (one_in(4)) nap();
}

struct Disorder {
  int threads;
  uint64_t sleeps_one_in, throws_one_in;  // parts
};
class TeamIn : public ::testing::TestWithParam<Disorder> {};
INSTANTIATE_TEST_SUITE_P(Disorder, TeamIn,
                         ::testing::Values(Disorder{2, 1000, 100000}, Disorder{2, 30, 300}, Disorder{3, 50, 200},
                                           Disorder{8, 200, 1000}));

TEST_P(TeamIn, EachPartIsDoneOnceInItsSection) {
  const Disorder disorder = GetParam();
  Team team(disorder.threads, Pinning::none, sleep_at_times);
  for (uint64_t run = 0; run < 400; ++run) {
    std::vector<int> parts(1 + random_bits(1, run) % 12);
    for (size_t s = 0; s < parts.size(); ++s) parts[s] = static_cast<int>(random_bits(2 + run, s) % 10);
    std::deque<std::vector<int>> calls;
    for (int count : parts) calls.emplace_back(static_cast<size_t>(count), 0);
    std::atomic<bool> thrown{false};
    std::atomic<int> early{0};
    bool caught = false;
    try {
      team.run(parts, [&](size_t section, int part, int) {
        if (one_in(disorder.sleeps_one_in)) nap();
        ++calls[section][static_cast<size_t>(part)];
        if (section > 0 && !thrown)
          for (int before : calls[section - 1]) early += before != 1;
        if (one_in(disorder.throws_one_in)) thrown = true, throw run;
      });
    } catch (uint64_t of_run) {
      caught = true;
      EXPECT_EQ(of_run, run);
    }
    ASSERT_EQ(caught, thrown);
    ASSERT_EQ(early, 0);
    for (const auto& section : calls)
      for (int count : section) ASSERT_TRUE(count == 1 || (thrown && count == 0)) << count;
    if (one_in(20)) nap();  // and the workers with us
  }
}

}  // namespace
}  // namespace rung::cpu
