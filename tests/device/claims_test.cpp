// The rules of claims, and every order in which small teams can follow them: each part is done once, in its own
// section, and whoever has claimed nothing is not waited for.
// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/claims.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <set>
#include <type_traits>
#include <vector>

namespace rung::cpu {
namespace {

TEST(EpochWord, KeepsBothOfItsNumbers) {
  for (uint64_t epoch : {uint64_t{0}, uint64_t{1}, uint64_t{65536}, (uint64_t{1} << 48) - 1})
    for (int count : {0, 1, 255, 256, kMostParts}) {
      const EpochWord word(epoch, count);
      EXPECT_EQ(word.epoch(), epoch);
      EXPECT_EQ(word.count(), count);
      EXPECT_EQ(EpochWord::of_bits(word.bits()), word);
    }
}

TEST(LaneParts, CoverEveryPartOnceInOrder) {
  for (int parts : {0, 1, 2, 7, 64, kMostParts})
    for (int lanes : {1, 2, 3, 8, 1024}) {
      int64_t next = 0;
      for (int lane = 0; lane < lanes; ++lane) {
        const Range mine = lane_parts(parts, lane, lanes);
        EXPECT_EQ(mine.begin, next);
        EXPECT_LE(mine.count(), parts / lanes + 1);
        next = mine.end;
      }
      EXPECT_EQ(next, parts);
    }
}

TEST(LaneParts, GiveASinglePartToTheCaller) { EXPECT_EQ(lane_parts(1, 0, 8).count(), 1); }

// ---- a model of the team: threads that follow Team's steps, of which any can come next

constexpr int kMostThreads = 3, kMostSections = 5;

struct Script {
  int threads;
  std::vector<std::vector<int>> runs;  // parts of each section
};

enum class At : uint8_t { look, load, swap, body, count, ended };

struct Thread {
  uint64_t seen = 0, word = 0;  // bits of EpochWords
  At at = At::look;
  uint8_t lane = 0;  // how many lanes on from its own
  uint8_t part = 0;
  uint8_t done = 0;               // not counted yet
  std::array<uint8_t, 4> rest{};  // so that no byte is left undefined
};

// Without gaps, so that states are compared by their bytes.
struct State {
  uint64_t open = 0, first_epoch = 1;
  std::array<uint64_t, kMostThreads> lanes{};
  std::array<Thread, kMostThreads> threads{};
  std::array<uint64_t, kMostSections> begun{}, ended{};  // parts, by bits, of the run's sections
  uint64_t run = 0, done = 0;

  bool operator<(const State& other) const { return std::memcmp(this, &other, sizeof *this) < 0; }
};
static_assert(std::has_unique_object_representations_v<State>);

class Model {
 public:
  explicit Model(Script script) : script_(std::move(script)) {}

  void explore() {
    State start;
    open_next(start, start.first_epoch);
    std::vector<State> left{start};
    std::set<State> known{start};
    while (!left.empty() && ok()) {
      const State state = left.back();
      left.pop_back();
      needs_no_idle_thread(state);
      for (int thread = 0; thread < script_.threads; ++thread) {
        State next = state;
        if (step(next, thread) && known.insert(next).second) left.push_back(next);
      }
    }
    states_ = known.size();
  }
  size_t states() const { return states_; }

 private:
  static bool ok() { return !::testing::Test::HasFailure(); }
  bool ended(const State& s) const { return s.threads[0].at == At::ended; }
  const std::vector<int>& sections(const State& s) const { return script_.runs[s.run]; }
  uint64_t end(const State& s) const { return s.first_epoch + sections(s).size(); }

  void open_next(State& s, uint64_t epoch) const {
    const auto parts = [&] { return sections(s)[epoch - s.first_epoch]; };
    while (epoch < end(s) && parts() == 0) ++epoch;
    s.open = EpochWord(epoch, epoch == end(s) ? 0 : parts()).bits();
  }

  // One look at, or one change of, what others see. false: there is nothing to do for this thread.
  bool step(State& s, int thread) const {
    Thread& t = s.threads[static_cast<size_t>(thread)];
    switch (t.at) {
      case At::look:
        return look(s, thread);
      case At::load:
        t.word = s.lanes[lane_of(t, thread)];
        t.at = At::swap;
        return true;
      case At::swap:
        return swap(s, thread);
      case At::body:
        return body(s, t);
      case At::count:
        return count(s, thread);
      case At::ended:
        return false;
    }
    return false;
  }

  size_t lane_of(const Thread& t, int thread) const { return static_cast<size_t>((thread + t.lane) % script_.threads); }

  // The caller goes on to its next run; a worker looks again once the word has changed.
  bool look(State& s, int thread) const {
    Thread& t = s.threads[static_cast<size_t>(thread)];
    const auto open = EpochWord::of_bits(s.open);
    if (thread == 0 && open.epoch() == end(s)) {
      if (s.run + 1 == script_.runs.size()) return t.at = At::ended, true;
      ++s.run;
      s.first_epoch = open.epoch() + 1;
      s.begun = s.ended = {};
      open_next(s, s.first_epoch);
      return true;
    }
    if (s.open == t.seen) return false;
    t.seen = s.open, t.lane = 0, t.at = At::load;
    return true;
  }

  bool swap(State& s, int thread) const {
    Thread& t = s.threads[static_cast<size_t>(thread)];
    const auto seen = EpochWord::of_bits(t.seen);
    const size_t lane = lane_of(t, thread);
    const Range parts = lane_parts(seen.count(), static_cast<int>(lane), script_.threads);
    const auto claim = next_claim(EpochWord::of_bits(t.word), seen, parts);
    if (!claim) return leave_lane(s, t), true;
    if (s.lanes[lane] != t.word) return t.word = s.lanes[lane], true;
    s.lanes[lane] = claim->word.bits();
    t.part = static_cast<uint8_t>(claim->part), t.at = At::body;
    begin_part(s, seen, claim->part);
    return true;
  }

  void leave_lane(const State& s, Thread& t) const {
    if (t.lane == 0 && t.done > 0) return void(t.at = At::count);
    ++t.lane;
    t.at = t.lane < script_.threads && s.open == t.seen ? At::load : At::look;
  }

  void begin_part(State& s, EpochWord seen, int part) const {
    ASSERT_GE(seen.epoch(), s.first_epoch) << "a part of an earlier run";
    ASSERT_LT(seen.epoch(), end(s)) << "a part of no section";
    const size_t section = seen.epoch() - s.first_epoch;
    ASSERT_EQ(seen.bits(), s.open) << "a part of a section that is over";
    ASSERT_LT(part, sections(s)[section]);
    ASSERT_EQ(s.begun[section] >> part & 1, 0u) << "part " << part << " twice";
    s.begun[section] |= uint64_t{1} << part;
    for (size_t before = 0; before < section; ++before)
      ASSERT_EQ(s.ended[before], (uint64_t{1} << sections(s)[before]) - 1) << "of section " << before;
  }

  bool body(State& s, Thread& t) const {
    s.ended[EpochWord::of_bits(t.seen).epoch() - s.first_epoch] |= uint64_t{1} << t.part;
    ++t.done;
    t.at = t.lane == 0 ? At::load : At::count;
    return true;
  }

  bool count(State& s, int thread) const {
    Thread& t = s.threads[static_cast<size_t>(thread)];
    const auto seen = EpochWord::of_bits(t.seen);
    s.done += t.done;
    t.done = 0;
    if (s.done == static_cast<uint64_t>(seen.count())) s.done = 0, open_next(s, seen.epoch() + 1);
    if (t.lane == 0) return leave_lane(s, t), true;
    return t.at = At::load, true;
  }

  // The caller and those that have claimed something come to the end, whatever the others do: nothing.
  void needs_no_idle_thread(State s) const {
    for (int steps = 0; steps < 1000 && !ended(s); ++steps) {
      bool moved = false;
      for (int thread = 0; thread < script_.threads; ++thread) {
        const Thread& t = s.threads[static_cast<size_t>(thread)];
        if (thread == 0 || t.at == At::body || t.done > 0) moved |= step(s, thread);
      }
      if (!moved) break;
    }
    ASSERT_TRUE(ended(s)) << "the caller waits for threads that have claimed nothing";
  }

  Script script_;
  size_t states_ = 0;
};

class ClaimsOf : public ::testing::TestWithParam<Script> {};
INSTANTIATE_TEST_SUITE_P(Scripts, ClaimsOf,
                         ::testing::Values(Script{1, {{2, 0, 1}, {0}, {1}}}, Script{2, {{1}, {1}, {1}, {1}}},
                                           Script{2, {{4, 3}, {2, 1, 0}, {0, 5}}}, Script{2, {{1, 2, 1, 2}, {3, 1, 4}}},
                                           Script{2, {{0, 0}, {7}, {1, 1}}}, Script{3, {{3, 1}, {1}}},
                                           Script{3, {{1, 3}, {0, 1}}}));

TEST_P(ClaimsOf, AreRightInEveryOrder) {
  Model model(GetParam());
  model.explore();
  EXPECT_GT(model.states(), GetParam().threads == 1 ? 10u : 500u);
}

}  // namespace
}  // namespace rung::cpu
