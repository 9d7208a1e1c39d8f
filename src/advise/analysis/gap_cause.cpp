// What takes the largest part of the time until the launch is the cause.
// SPDX-License-Identifier: Apache-2.0
#include "advise/analysis/gap_cause.hpp"

#include <algorithm>
#include <array>

namespace rung::advise {
namespace {

// A synchronize with an idle device takes this long at most: one that begins in a gap and takes longer waited for
// something that is not recorded.
constexpr int64_t kIdleSyncNs = 50'000;

bool waits(GapCause cause) {
  return cause == GapCause::synchronization || cause == GapCause::copy || cause == GapCause::allocation;
}

struct Share {
  int64_t ns = 0;
  int64_t longest_ns = -1;
  uint32_t event = kNone;
};

}  // namespace

GapCauses::GapCauses(const Recording& recording, const std::vector<Work>& work)
    : recording_(recording), times_(host_times(recording, work)) {}

void GapCauses::explain(Gap& gap, const Work* before, const Work* after, bool after_work) const {
  const uint32_t launch = after ? after->call : kNone;
  const uint32_t thread_of = after ? launch : (before ? before->call : kNone);
  if (thread_of == kNone) return;
  const Event& known = recording_.events[thread_of];
  const int64_t launched = after ? std::min(known.end_ns(), gap.span.end_ns) : gap.span.end_ns;
  const bool same_graph = before && launch != kNone && before->call == launch;
  if (same_graph || launched <= gap.span.start_ns) {
    gap.cause = GapCause::device;
    return;
  }
  explain_by_thread(gap, {{gap.span.start_ns, launched}, known.lane, after_work}, launch);
}

// A wait that ends with the device idle cost the lead that the host had: as much of what follows as it had waited for
// would have been done meanwhile, so that the wait answers for it.
void GapCauses::explain_by_thread(Gap& gap, const Window& window, uint32_t launch) const {
  const std::vector<HostTime>& times = times_[window.lane];
  std::array<Share, kGapCauseWords.size()> shares{};
  int64_t rest = window.span.length_ns(), lead = 0;
  GapCause waited_in = GapCause::unknown;
  auto at = std::ranges::lower_bound(times, window.span.start_ns, {}, [](const HostTime& t) { return t.span.end_ns; });
  for (; at != times.end() && at->span.start_ns < window.span.end_ns; ++at) {
    const bool began_before = at->span.start_ns < window.span.start_ns;
    if (at->cause == GapCause::synchronization && !(began_before && window.after_work) &&
        at->span.length_ns() < kIdleSyncNs)
      continue;
    const int64_t ns =
        std::min(at->span.end_ns, window.span.end_ns) - std::max(at->span.start_ns, window.span.start_ns);
    Share& share = shares[static_cast<size_t>(at->cause)];
    share.ns += ns;
    rest -= ns;
    if (ns > share.longest_ns) share.longest_ns = ns, share.event = at->event;
    if (!began_before || !window.after_work || !waits(at->cause)) continue;
    waited_in = at->cause;
    lead = window.span.start_ns - at->span.start_ns;
  }
  lead = std::min(lead, rest);
  shares[static_cast<size_t>(waited_in)].ns += lead;
  Share& host = shares[static_cast<size_t>(GapCause::host_bound)];
  host.ns += rest - lead;
  host.event = launch;
  const auto most = std::ranges::max_element(shares, {}, &Share::ns);
  gap.cause = static_cast<GapCause>(most - shares.begin());
  gap.call = most->event;
}

}  // namespace rung::advise
