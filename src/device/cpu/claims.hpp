// Decides which part of a section comes next: words that threads compare and swap, and the rules for their values.
// SPDX-License-Identifier: Apache-2.0
//
// A team has one section open at a time, named by its epoch, which no other section of the team ever has. The parts of
// a section are dealt to lanes, one lane for each thread, and a lane's word counts the parts that were claimed. The
// word names the epoch that it counts for, so nobody needs to reset it: the first claim in a section does. That also
// makes a late thread harmless. It claims for the epoch that it saw; once that section is over, each lane that had
// parts in it counts for that epoch and is used up, or counts for a later one, and the claim fails.
#pragma once
#include <cstdint>
#include <optional>

#include "device/cpu/share.hpp"

namespace rung::cpu {

// An epoch and a count, of 48 and 16 bits. The open section's word counts the section's parts, 0 between runs; a lane's
// word counts the parts claimed.
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

// Returns the parts of a lane; the first lanes have one more if the parts do not divide evenly.
inline Range lane_parts(int parts, int lane, int lanes) {
  const auto border = [&](int at) { return (static_cast<int64_t>(parts) * at + lanes - 1) / lanes; };
  return {border(lane), border(lane + 1)};
}

struct Claim {
  EpochWord word;  // the lane's new word
  int part = 0;
};

// Returns the claim of the next part of a lane whose word is `lane`, by a thread that saw `open`; nullopt: no part is
// left, or that section is over. The claim is made once the word is swapped.
inline std::optional<Claim> next_claim(EpochWord lane, EpochWord open, Range parts) {
  if (lane.epoch() > open.epoch()) return std::nullopt;
  const int claimed = lane.epoch() == open.epoch() ? lane.count() : 0;
  if (claimed >= parts.count()) return std::nullopt;
  return Claim{{open.epoch(), claimed + 1}, static_cast<int>(parts.begin) + claimed};
}

}  // namespace rung::cpu
