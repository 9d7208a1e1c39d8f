// The shadow of LDS beside a plain model of it: for each byte, who wrote it last and who read it since the barrier.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/run/lds.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

#include "amdgpu/run/access/lane_access.hpp"

namespace rung::amdgpu {
namespace {

constexpr uint32_t kBytes = 52;  // so few that accesses meet
constexpr int kNobody = -1, kSeveral = -2;

class Model {
 public:
  // The first difference in some of the bytes; empty: none.
  std::set<DefectKind> touch(const std::set<uint32_t>& places, int wave, LdsUse use) {
    std::set<DefectKind> wrong;
    for (const uint32_t place : places) {
      Byte& byte = bytes_[place];
      const bool read_by_another = byte.readers.size() > byte.readers.count(wave);
      const bool written_by_another = byte.writer_now != kNobody && byte.writer_now != wave;
      const bool both_atomic = use == LdsUse::atomic && byte.atomic;
      if (!byte.written && use != LdsUse::write)
        wrong.insert(DefectKind::uninitialised);
      else if ((written_by_another && !both_atomic) || (use != LdsUse::read && read_by_another))
        wrong.insert(DefectKind::lds_race);
      if (use == LdsUse::read) {
        byte.readers.insert(wave);
      } else {
        byte.written = true, byte.atomic = use == LdsUse::atomic;
        byte.writer_now = written_by_another ? kSeveral : wave;
      }
    }
    return wrong;
  }
  void barrier() {
    for (Byte& byte : bytes_) byte.readers.clear(), byte.writer_now = kNobody;
  }

 private:
  struct Byte {
    bool written = false, atomic = false;
    int writer_now = kNobody;  // since the barrier
    std::set<int> readers;
  };
  std::vector<Byte> bytes_ = std::vector<Byte>(kBytes);
};

// Accesses until the first that is wrong, of waves that have the first and the last number.
TEST(LdsBesideTheModel, OfAccessesOfAllWidths) {
  std::mt19937 random(1);
  const auto below = [&](uint32_t count) { return static_cast<uint32_t>(random()) % count; };
  LanePatterns patterns;
  Lds lds;
  size_t fine = 0, uninitialised = 0, races = 0;
  for (int round = 0; round < 4000; ++round) {
    lds.reset(kBytes, {});
    Model model;
    const bool begins_written = below(2) == 0;
    const uint32_t most_bytes = below(2) == 0 ? 4 : 16;
    if (begins_written) {
      std::set<uint32_t> all;
      for (uint32_t n = 0; n < kBytes; ++n) all.insert(n);
      ASSERT_FALSE(lds.touch(0, {.count = kBytes, .wave = 0, .use = LdsUse::write}));
      model.touch(all, 0, LdsUse::write);
      lds.barrier(), model.barrier();
    }
    for (int step = 0; step < 80; ++step) {
      if (below(3) == 0) lds.barrier(), model.barrier();
      constexpr uint32_t kWidths[] = {1, 2, 4, 8, 12, 16};
      constexpr int kWaves[] = {0, 1, 15};
      constexpr LdsUse kUses[] = {LdsUse::read, LdsUse::write, LdsUse::atomic};
      const LdsUse use = kUses[below(3)];
      uint32_t bytes = kWidths[below(6)];
      if (use == LdsUse::atomic) bytes = below(2) == 0 ? 4 : 8;
      bytes = std::min(bytes, most_bytes);
      const int wave = kWaves[below(3)];
      Addresses addresses;
      std::set<uint32_t> places;
      for (int lane = 0; lane < kWaveLanes; ++lane) {
        if (below(50) != 0 && lane != 9) continue;
        const uint32_t unit = use == LdsUse::atomic ? bytes : std::min(bytes, 4u);
        addresses.lanes |= uint64_t{1} << lane;
        addresses.at[lane] = below((kBytes - bytes) / unit + 1) * unit;
        for (uint32_t n = 0; n < bytes; ++n) places.insert(static_cast<uint32_t>(addresses.at[lane]) + n);
      }
      addresses.close();
      const std::set<DefectKind> wrong = model.touch(places, wave, use);
      const LanePattern& pattern = patterns.of(addresses, bytes, LanePatterns::kDwordBytes);
      LdsFault fault;
      const int lane = lds.touch({addresses.at, &pattern, bytes, static_cast<uint32_t>(wave), use}, fault);
      ASSERT_EQ(lane >= 0, !wrong.empty()) << "round " << round << ", step " << step;
      if (lane < 0) {
        ++fine;
        continue;
      }
      ASSERT_TRUE(wrong.contains(fault.kind)) << kDefectWords[static_cast<size_t>(fault.kind)];
      ASSERT_TRUE(addresses.lanes >> lane & 1);
      ASSERT_TRUE(fault.byte >= addresses.at[lane] && fault.byte < addresses.at[lane] + bytes);
      ASSERT_NE(fault.other, wave);
      ++(fault.kind == DefectKind::lds_race ? races : uninitialised);
      break;
    }
  }
  EXPECT_GT(fine, 5000u);
  EXPECT_GT(uninitialised, 500u);
  EXPECT_GT(races, 1000u);
}

TEST(LdsShadow, NamesTheWaveThatAnAccessMeets) {
  for (const uint32_t first : {0u, 1u, 14u, 15u})
    for (const uint32_t second : {0u, 7u, 15u})
      for (const uint32_t bytes : {1u, 4u}) {
        if (first == second) continue;
        for (const bool read_first : {false, true}) {
          Lds lds;
          lds.reset(16, {});
          ASSERT_FALSE(lds.touch(0, {.count = 16, .wave = first, .use = LdsUse::write}));
          if (read_first) {
            lds.barrier();
            ASSERT_FALSE(lds.touch(4, {.count = bytes, .wave = first, .use = LdsUse::read}));
          }
          const auto fault = lds.touch(4, {.count = bytes, .wave = second, .use = LdsUse::write});
          ASSERT_TRUE(fault);
          EXPECT_EQ(fault->kind, DefectKind::lds_race);
          EXPECT_EQ(fault->byte, 4u);
          EXPECT_EQ(fault->other, static_cast<int>(first));
        }
      }
}

}  // namespace
}  // namespace rung::amdgpu
