// The work of the busiest device and its launches, before it is known which work belongs to steps.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "trace/analysis/analysis.hpp"

namespace rung::trace {

inline constexpr int64_t kBeforeRecording = INT64_MIN;

struct DeviceWork {
  int device = -1;              // none: no work
  std::vector<Work> work;       // by start
  std::vector<int64_t> launch;  // begin of each launch on the host; kBeforeRecording: not recorded
};

// Returns the innermost operation or range around each event of a host thread; kNone for others.
std::vector<uint32_t> innermost_around(const Recording& recording);

DeviceWork busiest_device(const Recording& recording, const std::vector<uint32_t>& around);

}  // namespace rung::trace
