// Facts about a wave's lanes that follow from code alone: values of registers made of a lane's number and constants.
// SPDX-License-Identifier: Apache-2.0
// The wave is a work-group's first, and the group is at least 64 threads long in x: lane l is thread l. Loaded values
// are not known; a scalar register whose value is not known still has one value for all lanes.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "amdgpu/analysis/blocks.hpp"

namespace rung::amdgpu {

// The value of one register. If it is not exact, it lacks an addend, which is the same in all lanes.
struct LaneValue {
  bool exact = true;
  alignas(64) std::array<uint32_t, kWaveLanes> at{};
  bool operator==(const LaneValue&) const = default;
};
using LaneValuePtr = std::shared_ptr<const LaneValue>;  // null: not derivable

// The facts that are derivable where an instruction begins.
class LaneState {
 public:
  static constexpr size_t kVectors = 512, kScalars = 128;
  static LaneState at_entry();
  // Returns a vector register's value in the active lanes, by the register's place (AGPRs behind VGPRs).
  const LaneValuePtr& vector(size_t place) const { return vectors_[place]; }
  void step(const Placed& placed, Isa isa);
  // Keeps the facts that hold on both paths to a place; returns whether any fact was lost.
  bool meet(const LaneState& other);

 private:
  friend struct LaneStep;
  // At depth 0 EXEC is all lanes. At each further depth a condition takes some away; registers written there hold for
  // the remaining lanes alone, and are forgotten when the others come back.
  struct Depth {
    std::array<bool, kVectors> written{};
    bool saved = true;  // a scalar register holds the mask before
  };
  void set_vector(size_t place, LaneValuePtr value);
  void set_scalar(size_t number, std::optional<uint32_t> value);
  void narrow(std::optional<size_t> saved_in);
  void widen(size_t to_depth);

  std::array<LaneValuePtr, kVectors> vectors_;
  std::array<std::optional<uint32_t>, kScalars> scalars_;
  std::array<std::optional<size_t>, kScalars> depth_in_;  // the depth of the mask that a pair of scalar registers holds
  std::vector<Depth> depths_;                             // without depth 0
};

// Returns by each instruction's index the low word of a memory instruction's vector address; null: there is none, or it
// is not derivable.
std::vector<LaneValuePtr> lane_addresses(const Listing& listing, const std::vector<Block>& blocks);

}  // namespace rung::amdgpu
