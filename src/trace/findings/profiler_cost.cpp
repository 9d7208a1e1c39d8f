// Uses the shortest time from an operation's start to that of the first operation inside it.
// SPDX-License-Identifier: Apache-2.0
#include "trace/findings/profiler_cost.hpp"

#include <algorithm>

#include "trace/findings/evidence.hpp"

namespace rung::trace {
namespace {

constexpr int64_t kFewestPairs = 30;    // fewer give no reliable minimum
constexpr double kSmallestShare = 0.5;  // a profiler that took more than the program is not plausible

struct Nesting {
  int64_t shortest_ns = INT64_MAX;
  int64_t pairs = 0, operations = 0;
};

Nesting nesting_of(const Analysis& analysis, const HeldHost& host) {
  const Recording& recording = analysis.recording;
  const std::vector<uint32_t>& around_of = analysis.whole().around;
  std::vector<bool> entered(recording.events.size());
  Nesting found;
  for (uint32_t i = 0; i < recording.events.size() && i < around_of.size(); ++i) {
    const Event& event = recording.events[i];
    if (is_on_device(event.kind) || !host.launches(event.lane)) continue;
    const uint32_t around = around_of[i];
    const bool first_inside = around != kNone && !entered[around];
    if (around != kNone) entered[around] = true;
    if (event.kind != EventKind::host_op || !is_host_at_step(analysis, event.start_ns)) continue;
    ++found.operations;
    if (!first_inside || recording.events[around].kind != EventKind::host_op) continue;
    ++found.pairs;
    found.shortest_ns = std::min(found.shortest_ns, event.start_ns - recording.events[around].start_ns);
  }
  return found;
}

int64_t waited_ns(const Analysis& analysis, const HeldHost& host) {
  std::vector<Span> waits;
  for (const GapCause cause : {GapCause::synchronization, GapCause::copy, GapCause::allocation})
    for (const uint32_t call : host.by(cause))
      waits.push_back({analysis.recording.events[call].start_ns, analysis.recording.events[call].end_ns()});
  return length_of(union_of(std::move(waits)));
}

}  // namespace

double largest_own_share(const Analysis& analysis, const HeldHost& host) {
  const Nesting nesting = nesting_of(analysis, host);
  const int64_t host_ns = analysis.accounting.time_ns - waited_ns(analysis, host);
  if (nesting.pairs < kFewestPairs || host_ns <= 0) return 1;
  const double profiler_ns = 2.0 * static_cast<double>(nesting.shortest_ns) * static_cast<double>(nesting.operations);
  return std::max(kSmallestShare, 1 - profiler_ns / static_cast<double>(host_ns));
}

}  // namespace rung::trace
