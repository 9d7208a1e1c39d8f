// Numbers of a launch as profilers write them; missing and implausible ones become 0.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include "base/divide.hpp"
#include "trace/recording/recording.hpp"

namespace rung::trace {

constexpr uint32_t count_of(std::optional<int64_t> number) {
  return number && *number >= 0 && *number <= std::numeric_limits<uint32_t>::max() ? static_cast<uint32_t>(*number) : 0;
}

// AMD's profilers give both kinds of a thread's registers, which share one file.
constexpr uint32_t registers_of(uint32_t vector, uint32_t accumulators) {
  constexpr uint32_t kMost = 4096;
  return vector <= kMost && accumulators <= kMost ? vector + accumulators : 0;
}

// AMD's profilers give grids in work items.
inline void set_axis(LaunchShape& shape, size_t axis, uint32_t items, uint32_t block) {
  shape.block[axis] = block;
  shape.grid[axis] = block > 0 ? static_cast<uint32_t>(divide_up(uint64_t{items}, block)) : 0;
}

}  // namespace rung::trace
