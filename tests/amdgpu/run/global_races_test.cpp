// The shadow of global memory beside a plain model of it: for each byte, who wrote it last and who read it.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/run/global_races.hpp"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>
#include <set>

#include "amdgpu/run/access/lane_access.hpp"

namespace rung::amdgpu {
namespace {

constexpr size_t kGroups = 3;

struct Use {
  size_t group;
  bool write, atomic;
};

class Model {
 public:
  // Whether some of the bytes makes it a race. `meets`: an atomic load reads what another group's atomic wrote.
  bool races(const std::set<uint64_t>& places, const Use& use, bool& meets) {
    bool race = false;
    for (const uint64_t place : places) race |= races(bytes_[place], use, meets);
    return race;
  }

 private:
  struct Byte {
    std::set<size_t> readers;
    size_t writer = kGroups;  // none
    bool written_by_atomic = false, read_by_atomics = true;
  };
  static bool races(Byte& byte, const Use& use, bool& meets) {
    const bool written = byte.writer != kGroups && byte.writer != use.group;
    const bool read = byte.readers.size() > byte.readers.count(use.group);
    const bool excused = use.atomic && byte.written_by_atomic;
    const bool race = (written && !excused) || (use.write && read && !(use.atomic && byte.read_by_atomics));
    meets |= written && excused && !use.write;
    if (use.write) {
      byte.writer = use.group, byte.written_by_atomic = use.atomic;
    } else {
      byte.readers.insert(use.group);
      byte.read_by_atomics &= use.atomic;
    }
    return race;
  }
  std::map<uint64_t, Byte> bytes_;
};

// Two places whose pages share a bucket, each around the border of two pages.
constexpr uint64_t kPlaces[] = {uint64_t{1} << 40, (uint64_t{1} << 40) + (uint64_t{4096} << 14)};

class RacesBesideTheModel : public ::testing::Test {
 protected:
  // A launch of `groups`, of which three access what they like.
  void launch(uint64_t groups, bool with_atomics) {
    races_.begin(groups);
    Model model;
    const uint64_t numbers[] = {0, groups / 2, groups - 1};
    for (size_t g = 0; g < kGroups; ++g) {
      groups_[g].races = &races_, groups_[g].number = static_cast<uint32_t>(numbers[g]);
      groups_[g].waves.resize(1), groups_[g].memory_of.resize(1);
      groups_[g].waves[0].group = &groups_[g], groups_[g].waves[0].next = 1;
    }
    for (int step = 0; step < 60; ++step) {
      const bool atomic = with_atomics && below(2) == 0;
      const Use use{below(kGroups), below(3) == 0, atomic};
      constexpr unsigned kWidths[] = {1, 2, 4, 8, 12, 16};
      const unsigned bytes = kWidths[below(6)];
      Addresses addresses;
      std::set<uint64_t> places;
      for (int lane = 0; lane < kWaveLanes; ++lane) {
        if (below(40) != 0 && lane != 7) continue;
        addresses.lanes |= uint64_t{1} << lane;
        addresses.at[lane] = kPlaces[below(2)] - 48 + below(80);
        if (atomic) addresses.at[lane] = addresses.at[lane] / bytes * bytes;
        for (unsigned n = 0; n < bytes; ++n) places.insert(addresses.at[lane] + n);
      }
      addresses.close();
      bool meets = false;
      const bool race = model.races(places, use, meets);
      Group& group = groups_[use.group];
      const LanePattern& pattern = group.patterns.of(addresses, bytes, LanePatterns::kLineBytes);
      races_.touch(group.waves[0], addresses, pattern, {bytes, !use.write, use.write, atomic});
      ASSERT_EQ(!group.found.empty(), race) << "step " << step << " of " << groups << " groups";
      ASSERT_EQ(group.synchronised, meets) << "step " << step;
      group.found.clear(), group.synchronised = false;
    }
  }
  size_t below(size_t count) { return random_() % count; }

  std::mt19937 random_{1};
  GlobalRaces races_;
  std::array<Group, kGroups> groups_;
};

TEST_F(RacesBesideTheModel, OfLoadsAndStoresOfAllWidths) {
  for (int launches = 0; launches < 400 && !HasFailure(); ++launches) launch(3 + below(5), false);
}

TEST_F(RacesBesideTheModel, OfAtomicsAmongThem) {
  for (int launches = 0; launches < 400 && !HasFailure(); ++launches) launch(3 + below(5), true);
}

// Numbers that launches give to their groups come to an end, and begin again.
TEST_F(RacesBesideTheModel, OfLaunchesWhoseNumbersRunOut) {
  for (int launches = 0; launches < 40 && !HasFailure(); ++launches)
    launch((uint64_t{1} << 29) - below(3), launches % 2 == 0);
  for (int launches = 0; launches < 4 && !HasFailure(); ++launches)
    launch(GlobalRaces::kMostGroups - static_cast<size_t>(launches % 2), launches < 2);
}

TEST_F(RacesBesideTheModel, ScalarLoadsAreReadsOfAllTheirBytes) {
  for (uint64_t at = kPlaces[0] - 68; at <= kPlaces[0]; at += 4) {
    launch(3, false);
    races_.begin(3);
    Addresses one;
    one.lanes = 1, one.at[0] = kPlaces[0] - 4;
    one.close();
    Group &writer = groups_[0], &reader = groups_[1];
    races_.touch(writer.waves[0], one, writer.patterns.of(one, 4, LanePatterns::kLineBytes), {4, false, true});
    races_.touch_scalar(reader.waves[0], at, 64);
    const bool meets = at <= kPlaces[0] - 4 && at + 64 > kPlaces[0] - 4;
    EXPECT_EQ(!reader.found.empty(), meets) << kPlaces[0] - at;
    reader.found.clear();
    races_.touch_scalar(writer.waves[0], at, 64);
    EXPECT_TRUE(writer.found.empty()) << "its own";
  }
}

}  // namespace
}  // namespace rung::amdgpu
