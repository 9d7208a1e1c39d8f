// Works out runs of bytes, lines and bank conflicts of a pattern of addresses.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/run/lane_pattern.hpp"

#include <algorithm>

#include "amdgpu/run/access/access_lanes.hpp"

namespace rung::amdgpu {

void Addresses::close() {
  if (lanes == ~uint64_t{0}) return;
  const uint64_t first = at[__builtin_ctzll(lanes)];
  for (int lane = 0; lane < kWaveLanes; ++lane)
    if (!(lanes >> lane & 1)) at[lane] = first;
}

namespace {

constexpr unsigned kBanks = 32;

// Returns the distances from the lowest address in order, each once.
std::vector<uint64_t> distances_of(const LanePattern& pattern) {
  std::vector<uint64_t> distances;
  distances.reserve(kWaveLanes);
  bool sorted = true;
  for (const int64_t from_first : pattern.from_first) {
    const uint64_t distance = static_cast<uint64_t>(from_first) - static_cast<uint64_t>(pattern.lowest);
    if (!distances.empty() && distance == distances.back()) continue;
    sorted &= distances.empty() || distance > distances.back();
    distances.push_back(distance);
  }
  if (!sorted) {
    std::sort(distances.begin(), distances.end());
    distances.erase(std::unique(distances.begin(), distances.end()), distances.end());
  }
  return distances;
}

void find_runs(LanePattern& pattern) {
  pattern.runs.clear();
  for (const uint64_t begin : distances_of(pattern)) {
    const uint64_t end = begin + pattern.bytes;
    if (!pattern.runs.empty() && begin <= pattern.runs.back().begin + pattern.runs.back().count)
      pattern.runs.back().count = std::max(pattern.runs.back().count, end - pattern.runs.back().begin);
    else
      pattern.runs.push_back({begin, pattern.bytes});
  }
}

unsigned lines_of(const LanePattern& pattern) {
  const uint64_t lowest = (pattern.phase + static_cast<uint64_t>(pattern.lowest)) % LanePatterns::kLineBytes;
  uint64_t next = 0;  // the first line that was not counted
  unsigned lines = 0;
  for (const ByteRun& run : pattern.runs) {
    const uint64_t first = std::max(next, (lowest + run.begin) / LanePatterns::kLineBytes);
    next = (lowest + run.begin + run.count - 1) / LanePatterns::kLineBytes + 1;
    lines += static_cast<unsigned>(next - std::min(first, next));
  }
  return lines;
}

// Returns the cycles that lanes of one phase wait: the most dwords wanted from one of 32 banks, less one.
unsigned conflicts_of_phase(const LanePattern& pattern, int first, int lanes, unsigned dwords) {
  const uint64_t lowest = (pattern.phase + static_cast<uint64_t>(pattern.lowest)) % LanePatterns::kDwordBytes;
  uint64_t wanted[kBanks][kWaveLanes];
  uint8_t count[kBanks] = {};
  unsigned most = 1;
  for (int lane = first; lane < first + lanes; ++lane) {
    if (!(pattern.lanes >> lane & 1)) continue;
    const uint64_t distance = static_cast<uint64_t>(pattern.from_first[lane]) - static_cast<uint64_t>(pattern.lowest);
    const uint64_t begin = (lowest + distance) / LanePatterns::kDwordBytes;
    for (uint64_t dword = begin; dword < begin + dwords; ++dword) {
      uint64_t* bank = wanted[dword % kBanks];
      uint8_t& held = count[dword % kBanks];
      if (std::find(bank, bank + held, dword) != bank + held) continue;
      bank[held++] = dword;
      most = std::max<unsigned>(most, held);
    }
  }
  return most - 1;
}

unsigned bank_conflicts_of(const LanePattern& pattern) {
  if (pattern.span - pattern.bytes < 4 * kBanks || (pattern.in_row && pattern.bytes >= 4)) return 0;
  const unsigned dwords = std::max(1u, pattern.bytes / 4);
  const int lanes = dwords == 1 ? 32 : dwords == 2 ? 16 : 8;
  unsigned cycles = 0;
  for (int first = 0; first < kWaveLanes; first += lanes) cycles += conflicts_of_phase(pattern, first, lanes, dwords);
  return cycles;
}

void work_out(LanePattern& pattern, const Addresses& addresses) {
  pattern.lanes = addresses.lanes;
  pattern.bits = 0;
  pattern.in_row = addresses.lanes == ~uint64_t{0};
  int64_t low = 0, high = 0;
  for (int lane = 0; lane < kWaveLanes; ++lane) {
    const auto distance = static_cast<int64_t>(addresses.at[lane] - addresses.at[0]);
    pattern.from_first[lane] = distance;
    pattern.bits |= static_cast<uint64_t>(distance);
    pattern.in_row &= distance == int64_t{pattern.bytes} * lane;
    low = std::min(low, distance), high = std::max(high, distance);
  }
  pattern.lowest = low;
  pattern.span = static_cast<uint64_t>(high) - static_cast<uint64_t>(low) + pattern.bytes;
  find_runs(pattern);
}

// Returns the place that such patterns have among those kept, by the distances of a few lanes.
size_t place_of(const Addresses& addresses, unsigned kind) {
  uint64_t mixed = kind;
  for (const int lane : {1, 5, 21, 63}) mixed = mixed * 0x9e3779b97f4a7c15 + (addresses.at[lane] - addresses.at[0]);
  return static_cast<size_t>(mixed * 0x9e3779b97f4a7c15 >> 48);
}

}  // namespace

const LanePattern& LanePatterns::of(const Addresses& addresses, unsigned bytes, unsigned unit) {
  LanePattern& pattern = (*known_)[place_of(addresses, bytes + unit) % kKnown];
  const auto phase = static_cast<unsigned>(addresses.at[0]) & (unit - 1);
  static const auto lie_so = access_lanes().lie_so;
  const bool known = pattern.bytes == bytes && pattern.unit == unit && pattern.lanes == addresses.lanes &&
                     lie_so(addresses.at, pattern.from_first.data());
  if (known && pattern.phase == phase) return pattern;
  pattern.bytes = bytes, pattern.unit = unit, pattern.phase = phase;
  if (!known) work_out(pattern, addresses);
  pattern.lines = unit == kLineBytes ? lines_of(pattern) : 0;
  pattern.bank_conflicts = unit == kDwordBytes ? bank_conflicts_of(pattern) : 0;
  return pattern;
}

uint64_t bank_conflicts(const Addresses& addresses, unsigned bytes) {
  static thread_local LanePatterns patterns;
  return patterns.of(addresses, bytes, LanePatterns::kDwordBytes).bank_conflicts;
}

}  // namespace rung::amdgpu
