// Joins the two parts of a gap that was cut at its launch.
// SPDX-License-Identifier: Apache-2.0
#include "trace/findings/late_gaps.hpp"

#include <algorithm>
#include <unordered_map>

#include "trace/findings/derived.hpp"

namespace rung::trace {
namespace {

// Returns the ends of calls that hold up the host, by time.
std::vector<int64_t> ends_of_holds(const Analysis& analysis) {
  std::vector<int64_t> ends;
  for (const GapCause cause : {GapCause::synchronization, GapCause::copy, GapCause::allocation})
    for (const uint32_t call : held_host(analysis).held.by(cause))
      ends.push_back(analysis.recording.events[call].end_ns());
  std::ranges::sort(ends);
  return ends;
}

}  // namespace

std::vector<LateGap> late_gaps(const Analysis& analysis, GapCause cause) {
  const std::vector<Gap>& gaps = analysis.accounting.gaps;
  std::vector<LateGap> found;
  for (size_t i = 0; i < gaps.size(); ++i) {
    if (gaps[i].cause != cause) continue;
    found.push_back({gaps[i].span, gaps[i].span.end_ns, gaps[i].after, gaps[i].call});
    if (i + 1 == gaps.size() || !gaps[i + 1].after_late_launch) continue;
    found.back().idle.end_ns += std::min(gaps[i + 1].span.length_ns(), kLongestLatencyNs);
  }
  return found;
}

std::vector<bool> launched_late(const Analysis& analysis) {
  const std::vector<int64_t> holds = ends_of_holds(analysis);
  std::vector<bool> late(analysis.work.size());
  std::unordered_map<uint16_t, int64_t> stream_ends;  // by lane
  int64_t launched_ns = analysis.accounting.wall.start_ns;
  for (size_t i = 0; i < late.size(); ++i) {
    const Event& work = analysis.event(analysis.work[i]);
    int64_t& end = stream_ends.try_emplace(work.lane, INT64_MIN).first->second;
    if (analysis.work[i].call != kNone) {
      const Event& call = analysis.recording.events[analysis.work[i].call];
      const auto hold = std::ranges::upper_bound(holds, launched_ns);
      const bool was_held = hold != holds.end() && *hold <= call.start_ns;
      late[i] = call.end_ns() >= end && !was_held;
      launched_ns = std::max(launched_ns, call.start_ns);
    }
    end = std::max(end, work.end_ns());
  }
  return late;
}

}  // namespace rung::trace
