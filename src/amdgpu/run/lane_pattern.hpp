// The distances between the addresses of lanes, and the facts that follow from these alone, kept for later accesses.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "amdgpu/isa/isa.hpp"

namespace rung::amdgpu {

// The address at which each lane of `lanes` accesses memory; the other lanes have that of the first of `lanes`.
struct Addresses {
  alignas(64) uint64_t at[kWaveLanes];
  uint64_t lanes = 0;
  void close();  // fills in the other lanes; there must be a lane
};

// Bytes that lanes access together, beginning `begin` bytes behind the lowest address.
struct ByteRun {
  uint64_t begin, count;
};

struct LanePattern {
  alignas(64) std::array<int64_t, kWaveLanes> from_first{};  // off lanes: that of the first lane that is on
  uint64_t lanes = 0;
  unsigned bytes = 0;            // per lane; 0: nothing was worked out yet
  unsigned unit = 0, phase = 0;  // `phase`: the first address's place in its line, or in its dword
  // Facts that follow from the pattern.
  int64_t lowest = 0;   // from the first address
  uint64_t span = 0;    // from the lowest address to the end of the highest access
  uint64_t bits = 0;    // all distances or-ed; an alignment divides all distances if it divides this
  bool in_row = false;  // all lanes are on, each directly behind the one before
  unsigned lines = 0;   // lines of 128 bytes
  unsigned bank_conflicts = 0;
  std::vector<ByteRun> runs;  // in order, apart from each other
};

// The patterns met last.
class LanePatterns {
 public:
  static constexpr unsigned kLineBytes = 128, kDwordBytes = 4;
  LanePatterns() : known_(std::make_unique<std::array<LanePattern, kKnown>>()) {}
  // Returns the pattern of accesses of `bytes` each. `unit` is kLineBytes for lines, kDwordBytes for bank conflicts.
  const LanePattern& of(const Addresses& addresses, unsigned bytes, unsigned unit);

 private:
  static constexpr size_t kKnown = 128;
  std::unique_ptr<std::array<LanePattern, kKnown>> known_;
};

// Returns the cycles that bank conflicts add to an access to LDS of `bytes` at each address.
uint64_t bank_conflicts(const Addresses& addresses, unsigned bytes);

}  // namespace rung::amdgpu
