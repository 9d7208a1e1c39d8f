// Which part of a section comes next: words that threads compare and swap, and the rules of what they may say.
// SPDX-License-Identifier: Apache-2.0
//
// A team has one section open at a time, named by its epoch: no two sections of a team's life have the same. The parts
// of a section are dealt to lanes, one lane for each thread, and a lane's word counts those that were claimed. The word
// says for which epoch it counts, so nobody needs to reset it: whoever claims first in a section does. That also makes
// a late thread harmless. It claims for the epoch that it saw; once that section is over, each lane that had parts in
// it counts for that epoch and is used up, or counts for a later one, and the claim fails.
#pragma once
#include <cstdint>
#include <optional>

#include "device/cpu/share.hpp"

namespace rung::cpu {

// An epoch and a count, of 48 and 16 bits. In the word of the open section the count is that of its parts, 0 between
// runs; in a lane's word that of the parts claimed.
class EpochWord {
 public:
  constexpr EpochWord() = default;
  constexpr EpochWord(uint64_t epoch, int count) : bits_(epoch << kCountBits | static_cast<uint64_t>(count)) {}
  static constexpr EpochWord of_bits(uint64_t bits) {
    EpochWord word;
    word.bits_ = bits;
    return word;
  }

  constexpr uint64_t bits() const { return bits_; }
  constexpr uint64_t epoch() const { return bits_ >> kCountBits; }
  constexpr int count() const { return static_cast<int>(bits_ & kMostCount); }
  constexpr bool operator==(const EpochWord&) const = default;

  static constexpr int kCountBits = 16;
  static constexpr uint64_t kMostCount = (uint64_t{1} << kCountBits) - 1;

 private:
  uint64_t bits_ = 0;
};

inline constexpr int kMostParts = static_cast<int>(EpochWord::kMostCount);

// The parts of a lane; the first lanes have one more where they do not come out even.
inline Range lane_parts(int parts, int lane, int lanes) {
  const auto border = [&](int at) { return (static_cast<int64_t>(parts) * at + lanes - 1) / lanes; };
  return {border(lane), border(lane + 1)};
}

struct Claim {
  EpochWord word;  // what the lane's word becomes
  int part = 0;
};

// The claim of the next part of a lane whose word is `lane`, by a thread that saw `open`; nullopt: none is left, or
// that section is over. It is made once the word is swapped.
inline std::optional<Claim> next_claim(EpochWord lane, EpochWord open, Range parts) {
  if (lane.epoch() > open.epoch()) return std::nullopt;
  const int claimed = lane.epoch() == open.epoch() ? lane.count() : 0;
  if (claimed >= parts.count()) return std::nullopt;
  return Claim{{open.epoch(), claimed + 1}, static_cast<int>(parts.begin) + claimed};
}

}  // namespace rung::cpu
