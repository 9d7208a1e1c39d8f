// Gaps before work that a host launched late, each including the time that its launch took to reach the device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "trace/analysis/analysis.hpp"

namespace rung::trace {

// A generous time from a launch to its work on an idle device: the rest of a longer pause has another cause.
inline constexpr int64_t kLongestLatencyNs = 20'000;

struct LateGap {
  Span idle;                // until the work began, but at most the latency above after its launch
  int64_t launched_ns = 0;  // the end of the host's delay
  uint32_t after = kNone;   // in Analysis::work
  uint32_t call = kNone;    // the launch
};

// Returns the host's gaps of one cause.
std::vector<LateGap> late_gaps(const Analysis& analysis, GapCause cause);

// Returns for each piece of work whether its launch ended when its stream had nothing left to do, and nothing had held
// up the host since the launch before.
std::vector<bool> launched_late(const Analysis& analysis);

}  // namespace rung::trace
