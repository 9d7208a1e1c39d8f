// Names of events give the cause, except for copies: an asynchronous copy blocks if the host's memory is pageable.
// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/host_time.hpp"

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace rung::trace {
namespace {

struct Rule {
  GapCause cause;
  EventKind kind;
  std::string_view pattern;
};

constexpr Rule kRules[] = {
#define RUNG_HOST_TIME(cause, kind, pattern) {GapCause::cause, EventKind::kind, pattern},
#include "trace/analysis/host_time.inc"
#undef RUNG_HOST_TIME
};

bool has_one_of(std::string_view name, std::string_view pattern) {
  for (;;) {
    const size_t end = pattern.find('|');
    if (name.find(pattern.substr(0, end)) != std::string_view::npos) return true;
    if (end == std::string_view::npos) return false;
    pattern.remove_prefix(end + 1);
  }
}

std::optional<GapCause> cause_of(std::string_view name, EventKind kind) {
  for (const Rule& rule : kRules)
    if (rule.kind == kind && has_one_of(name, rule.pattern)) return rule.cause;
  return std::nullopt;
}

// Marks each call of a copy in which the host stays until the copy is done or staged.
std::vector<bool> blocking_calls(const Recording& recording, const std::vector<Work>& work) {
  std::vector<bool> blocks(recording.events.size(), false);
  for (const Work& w : work) {
    const Event& event = recording.events[w.event];
    if (event.kind != EventKind::copy || w.call == kNone) continue;
    const CopyShape& shape = recording.copies[event.detail < recording.copies.size() ? event.detail : 0];
    const bool pageable = shape.from == MemoryKind::pageable || shape.to == MemoryKind::pageable;
    const bool waited = recording.events[w.call].end_ns() >= event.end_ns();
    blocks[w.call] = (shape.host_to_device || shape.device_to_host) && (pageable || waited);
  }
  return blocks;
}

// Returns the starts of calls that started kernels, by lane.
std::vector<std::vector<int64_t>> launches_by_lane(const Recording& recording, const std::vector<Work>& work) {
  std::vector<std::vector<int64_t>> launches(recording.lanes.size());
  for (const Work& w : work)
    if (w.call != kNone && recording.events[w.event].kind == EventKind::kernel)
      launches[recording.events[w.call].lane].push_back(recording.events[w.call].start_ns);
  for (std::vector<int64_t>& lane : launches) std::ranges::sort(lane);
  return launches;
}

// A program may be named after what it loads; an event that launches kernels does more than load.
bool launches_within(const std::vector<int64_t>& launches, const Event& event) {
  const auto first = std::ranges::lower_bound(launches, event.start_ns);
  return first != launches.end() && *first < event.end_ns();
}

}  // namespace

std::vector<std::vector<HostTime>> host_times(const Recording& recording, const std::vector<Work>& work) {
  std::vector<std::vector<HostTime>> times(recording.lanes.size());
  std::unordered_map<uint64_t, std::optional<GapCause>> causes;  // by the name's number and the kind
  const std::vector<bool> blocks = blocking_calls(recording, work);
  const std::vector<std::vector<int64_t>> launches = launches_by_lane(recording, work);
  for (uint32_t i = 0; i < recording.events.size(); ++i) {
    const Event& event = recording.events[i];
    if (is_on_device(event.kind) || event.lane >= times.size()) continue;
    const auto [cause, fresh] = causes.try_emplace(uint64_t{event.name} << 8 | static_cast<uint64_t>(event.kind));
    if (fresh) cause->second = cause_of(recording.name_of(event), event.kind);
    if (!cause->second || (*cause->second == GapCause::copy && !blocks[i])) continue;
    if (*cause->second == GapCause::input_loading && launches_within(launches[event.lane], event)) continue;
    std::vector<HostTime>& lane = times[event.lane];
    if (!lane.empty() && event.start_ns < lane.back().span.end_ns) continue;
    lane.push_back({{event.start_ns, event.end_ns()}, *cause->second, i});
  }
  return times;
}

}  // namespace rung::trace
