// How the places that lanes access lie to each other, and what follows from that alone, for patterns that come again.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "amdgpu/isa/target.hpp"

namespace rung::amdgpu {

// Where each lane of `lanes` accesses memory; the others have the address of the first of them.
struct Addresses {
  alignas(64) uint64_t at[kWaveLanes];
  uint64_t lanes = 0;
  void close();  // fills in the others; at least one lane is there
};

// Bytes that lanes access together, `begin` behind the lowest address.
struct ByteRun {
  uint64_t begin, count;
};

struct LanePattern {
  alignas(64) std::array<int64_t, kWaveLanes> from_first{};  // of lanes that are off: that of the first that is on
  uint64_t lanes = 0;
  unsigned bytes = 0;            // of each lane; 0: nothing was worked out yet
  unsigned unit = 0, phase = 0;  // the first address's place in its line, or in its dword
  // Facts that follow from the pattern.
  int64_t lowest = 0;   // from the first address
  uint64_t span = 0;    // from the lowest address to the end of the highest access
  uint64_t bits = 0;    // of all distances: what no address is a multiple of, one of these is not either
  bool in_row = false;  // all lanes are on, each behind the one before
  unsigned lines = 0;   // of 128 bytes
  unsigned bank_conflicts = 0;
  std::vector<ByteRun> runs;  // in order, apart from each other
};

// The patterns that were met last.
class LanePatterns {
 public:
  static constexpr unsigned kLineBytes = 128, kDwordBytes = 4;
  LanePatterns() : known_(std::make_unique<std::array<LanePattern, kKnown>>()) {}
  // The pattern of accesses of `bytes` each. `unit`: kLineBytes where lines are asked for, kDwordBytes where bank
  // conflicts are.
  const LanePattern& of(const Addresses& addresses, unsigned bytes, unsigned unit);

 private:
  static constexpr size_t kKnown = 128;
  std::unique_ptr<std::array<LanePattern, kKnown>> known_;
};

// Cycles that an access to LDS of `bytes` at each address takes beyond those of one without bank conflicts.
uint64_t bank_conflicts(const Addresses& addresses, unsigned bytes);

}  // namespace rung::amdgpu
