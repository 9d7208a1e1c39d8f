// A gap's cause is the activity that takes the largest part of the time until the launch.
// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/gap_cause.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "trace/analysis/launch_calls.hpp"

namespace rung::trace {
namespace {

// The longest time that a synchronize takes on an idle device: a longer one that begins in a gap waited for something
// that is not recorded.
constexpr int64_t kIdleSyncNs = 50'000;

bool waits(GapCause cause) {
  return cause == GapCause::synchronization || cause == GapCause::copy || cause == GapCause::allocation;
}

std::vector<std::vector<int64_t>> launches_by_lane(const Recording& recording) {
  std::vector<std::vector<int64_t>> launches(recording.lanes.size());
  std::unordered_map<uint32_t, bool> known;  // by the name's number
  for (const Event& event : recording.events) {
    if (event.kind != EventKind::runtime_call || event.lane >= launches.size()) continue;
    const auto [launch, fresh] = known.try_emplace(event.name);
    const std::string_view name = recording.name_of(event);
    if (fresh) launch->second = launches_kernel(name) || launches_graph(name);
    if (launch->second) launches[event.lane].push_back(event.start_ns);
  }
  return launches;
}

struct Share {
  int64_t ns = 0;
  int64_t longest_ns = -1;
  uint32_t event = kNone;
};

}  // namespace

GapCauses::GapCauses(const Recording& recording, const DeviceWork& device, const Launches& launches)
    : recording_(recording),
      device_(device),
      launches_(launches),
      times_(host_times(recording, device.work)),
      launches_ns_(launches_by_lane(recording)) {}

// Returns whether a launch between those of the work before and after is lost: its work ran in between.
bool GapCauses::is_behind_lost_launch(const Gap& gap) const {
  const int64_t from = gap.before == kNone ? kBeforeRecording : device_.launch[gap.before];
  const int64_t until = gap.after == kNone ? gap.span.end_ns : std::min(device_.launch[gap.after], gap.span.end_ns);
  const auto lost = std::ranges::upper_bound(launches_.lost_ns, from);
  return lost != launches_.lost_ns.end() && *lost < until;
}

std::vector<Gap> GapCauses::explained(const Gap& gap, bool after_work) const {
  if (is_behind_lost_launch(gap)) {
    Gap lost = gap;
    lost.cause = GapCause::lost;
    return {lost};
  }
  const Work* before = gap.before == kNone ? nullptr : &device_.work[gap.before];
  const uint32_t launch = gap.after == kNone ? kNone : device_.work[gap.after].call;
  const uint32_t thread_of = gap.after != kNone ? launch : (before ? before->call : kNone);
  if (thread_of == kNone) return {gap};
  const Event& known = recording_.events[thread_of];
  const int64_t launched = gap.after != kNone ? std::min(known.end_ns(), gap.span.end_ns) : gap.span.end_ns;
  const bool same_graph = before && launch != kNone && before->call == launch;
  Gap rest = gap;
  rest.cause = GapCause::device;
  if (same_graph || launched <= gap.span.start_ns) return {rest};
  Gap late = gap;
  late.span.end_ns = rest.span.start_ns = launched;
  rest.after_late_launch = true;
  explain_by_thread(late, {late.span, known.lane, after_work}, launch);
  if (rest.span.length_ns() > 0) return {late, rest};
  return {late};
}

// A wait that ends with the device idle cost the host its lead: without the wait, the host would have done as much of
// the following work as it had waited for, so the wait is charged with that time.
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
  const bool is_other_work = most->ns > kLongestLaunchNs && longest_without_launch_ns(window) > kLongestLaunchNs;
  if (gap.cause == GapCause::host_bound && is_other_work) gap.cause = GapCause::host_work;
}

int64_t GapCauses::longest_without_launch_ns(const Window& window) const {
  const std::vector<int64_t>& launches = launches_ns_[window.lane];
  int64_t longest = 0, from = window.span.start_ns;
  for (auto at = std::ranges::lower_bound(launches, from); at != launches.end() && *at < window.span.end_ns; ++at) {
    longest = std::max(longest, *at - from);
    from = *at;
  }
  return std::max(longest, window.span.end_ns - from);
}

}  // namespace rung::trace
