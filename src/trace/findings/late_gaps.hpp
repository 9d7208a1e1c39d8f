// Gaps before work that a host launched late, each with the time that its launch took to reach the device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "trace/analysis/analysis.hpp"

namespace rung::trace {

// From its launch to its work on an idle device, generously: of a longer pause the rest has another cause.
inline constexpr int64_t kLongestLatencyNs = 20'000;

struct LateGap {
  Span idle;                // of the device, until the work began, but no more than the latency above after its launch
  int64_t launched_ns = 0;  // until then the host was late
  uint32_t after = kNone;   // in Analysis::work
  uint32_t call = kNone;    // the launch
};

// The host's gaps of one cause.
std::vector<LateGap> late_gaps(const Analysis& analysis, GapCause cause);

// Per piece of work: its launch ended on a stream with nothing left to do, and the host was held up by nothing since
// the launch before.
std::vector<bool> launched_late(const Analysis& analysis);

}  // namespace rung::trace
