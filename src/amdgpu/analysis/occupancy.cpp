// Computes the work-groups that each limit allows, and the least of these.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/analysis/occupancy.hpp"

#include <algorithm>

namespace rung::amdgpu {
namespace {

constexpr uint32_t kSimds = 4, kVgprs = 512, kSgprs = 800, kWaveSlots = 8, kGroupSlots = 16, kMostThreads = 1024;
constexpr uint32_t kVgprUnit = 8, kSgprUnit = 16, kGuideVgprUnit = 16;
constexpr uint32_t kUnlimited = kSimds * kWaveSlots;  // work-groups
constexpr uint32_t kGuideLdsBytes = 64 * 1024;

constexpr uint32_t round_up(uint32_t value, uint32_t unit) { return (value + unit - 1) / unit * unit; }

// A file of which each user takes a multiple of `unit`.
struct File {
  uint32_t total, unit;
  // Returns how many users fit beside each other; `most` if each takes nothing.
  uint32_t users(uint32_t taken, uint32_t most) const {
    return taken == 0 ? most : std::min(most, total / round_up(taken, unit));
  }
  // Returns the most that each of `count` users may take.
  uint32_t share(uint32_t count) const { return total / count / unit * unit; }
};

File vgpr_file(OccupancyFormula formula) {
  return {kVgprs, formula == OccupancyFormula::guide ? kGuideVgprUnit : kVgprUnit};
}
constexpr File kSgprFile{kSgprs, kSgprUnit};

File lds_file(Isa isa, OccupancyFormula formula) {
  if (formula == OccupancyFormula::guide) return {kGuideLdsBytes, 1};
  return {info_of(isa).lds_bytes, isa == Isa::gfx950 ? 1280u : 512u};
}

// A work-group's waves are spread over the four SIMDs.
struct Shape {
  uint32_t waves;  // per group
  uint32_t groups(uint32_t waves_per_simd) const { return waves_per_simd * kSimds / waves; }
  uint32_t waves_per_simd(uint32_t count) const { return (count * waves + kSimds - 1) / kSimds; }
};

// A group of one wave has no barrier to wait at, and takes no slot of the work-groups'.
uint32_t group_slots(const Shape& shape) { return shape.waves == 1 ? kSimds * kWaveSlots : kGroupSlots; }

void find_next_step(Occupancy& made, const Resources& taken, const Shape& shape, const File& lds, const File& vgprs) {
  const uint32_t next = made.groups + 1, waves = shape.waves_per_simd(next);
  if (waves > kWaveSlots || next > group_slots(shape)) return;
  uint32_t used = 0, share = 0;
  switch (made.limit) {
    case Limit::vgprs:
      used = taken.vgprs, share = vgprs.share(waves);
      break;
    case Limit::sgprs:
      used = taken.sgprs, share = kSgprFile.share(waves);
      break;
    case Limit::lds:
      used = taken.lds_bytes, share = lds.share(next);
      break;
    default:
      return;
  }
  if (share == 0 || share >= used) return;
  // Taking that much less may make room for several groups, up to the other limits.
  std::array<uint32_t, 5> then = made.groups_by_limit;
  then[static_cast<size_t>(made.limit)] = made.limit == Limit::lds ? lds.users(share, kUnlimited) : shape.groups(waves);
  const uint32_t groups = *std::min_element(then.begin(), then.end());
  if (groups <= made.groups) return;  // another limit is as near
  made.excess = used - share;
  made.next_waves_per_simd = static_cast<double>(groups * shape.waves) / kSimds;
}

}  // namespace

Result<Occupancy> occupancy_of(const Resources& taken, Isa isa, OccupancyFormula formula) {
  if (taken.threads == 0 || taken.threads > kMostThreads)
    return wrong_usage("occupancy: got {} threads in a work-group, wanted 1 to {}", taken.threads, kMostThreads);
  const bool exact = formula == OccupancyFormula::exact;
  const Shape shape{round_up(taken.threads, kWaveLanes) / kWaveLanes};
  const File lds = lds_file(isa, formula), vgprs = vgpr_file(formula);
  const uint32_t slots = shape.groups(kWaveSlots);
  Occupancy made;
  // A wave without registers cannot run, so it takes at least one unit.
  made.groups_by_limit = {shape.groups(vgprs.users(std::max(taken.vgprs, 1u), exact ? kWaveSlots : kVgprs)),
                          exact ? shape.groups(kSgprFile.users(taken.sgprs, kWaveSlots)) : kUnlimited,
                          lds.users(taken.lds_bytes, kUnlimited), exact ? slots : kUnlimited,
                          exact ? group_slots(shape) : kUnlimited};
  for (size_t i = 0; i < made.waves_by_limit.size(); ++i)
    made.waves_by_limit[i] = static_cast<double>(made.groups_by_limit[i] * shape.waves) / kSimds;
  const auto least = std::min_element(made.groups_by_limit.begin(), made.groups_by_limit.end());
  made.groups = *least;
  // Slots are named as the limit even if another limit allows as few groups.
  const uint32_t wave_slots = made.groups_by_limit[static_cast<size_t>(Limit::wave_slots)];
  made.limit = *least == wave_slots ? Limit::wave_slots : static_cast<Limit>(least - made.groups_by_limit.begin());
  made.waves_per_simd = static_cast<double>(made.groups * shape.waves) / kSimds;
  find_next_step(made, taken, shape, lds, vgprs);
  return made;
}

std::string step_text(const Occupancy& occupancy) {
  if (occupancy.excess == 0) return "";
  const char* unit = occupancy.limit == Limit::lds ? "bytes of LDS" : kLimitWords[static_cast<size_t>(occupancy.limit)];
  return fmt::format("{} {} above {} waves", occupancy.excess, unit, occupancy.next_waves_per_simd);
}

}  // namespace rung::amdgpu
