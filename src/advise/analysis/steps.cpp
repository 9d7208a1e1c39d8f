// Four ways to find steps, the surest first; the first that finds some counts.
// SPDX-License-Identifier: Apache-2.0
#include "advise/analysis/steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "advise/analysis/repetition.hpp"

namespace rung::advise {
namespace {

constexpr std::string_view kProfilerStep = "ProfilerStep";
constexpr size_t kMostGroups = 8;      // groups of ranges that are looked at
constexpr size_t kMostNameShown = 60;  // bytes

struct Sources {
  const Recording& recording;
  const std::vector<uint32_t>& around;
  const DeviceWork& device;
};

// Of spans by start those that begin when the one before is over.
std::vector<Span> apart(const std::vector<Span>& spans) {
  std::vector<Span> kept;
  for (const Span& span : spans)
    if (kept.empty() || span.start_ns >= kept.back().end_ns) kept.push_back(span);
  return kept;
}

// How many spans begin at or before `ns`.
size_t begun_by(const std::vector<Span>& spans, int64_t ns) {
  return static_cast<size_t>(std::ranges::upper_bound(spans, ns, {}, &Span::start_ns) - spans.begin());
}

// Of the device's work, by duration, the part that was launched within the spans.
double share_launched_in(const std::vector<Span>& spans, const Sources& from) {
  double inside = 0, all = 0;
  for (size_t i = 0; i < from.device.work.size(); ++i) {
    const int64_t launch = from.device.launch[i];
    if (launch == kBeforeRecording) continue;
    const auto ns = static_cast<double>(from.recording.events[from.device.work[i].event].duration_ns);
    const size_t begun = begun_by(spans, launch);
    all += ns;
    if (begun > 0 && launch < spans[begun - 1].end_ns) inside += ns;
  }
  return all > 0 ? inside / all : 0;
}

// ---- ranges
Steps profiler_steps(const Sources& from) {
  std::vector<Span> spans;
  for (const Event& event : from.recording.events)
    if (event.kind == EventKind::range && from.recording.name_of(event).starts_with(kProfilerStep))
      spans.push_back({event.start_ns, event.end_ns()});
  return {apart(spans), "ProfilerStep ranges"};
}

std::string without_number(std::string_view name) {
  while (!name.empty() && name.back() >= '0' && name.back() <= '9') name.remove_suffix(1);
  return std::string(name);
}

struct Group {
  std::string name;
  std::vector<Span> spans;
  double total_ns = 0;
};

// Ranges of a thread with one name, or names that differ in the number at their end. Numbered parts of something
// (layers) are no steps.
std::vector<Group> groups_of_ranges(const Sources& from) {
  std::unordered_map<uint32_t, std::string> names;
  std::map<std::pair<uint16_t, std::string>, Group> groups;
  for (size_t i = 0; i < from.recording.events.size(); ++i) {
    const Event& event = from.recording.events[i];
    if (event.kind != EventKind::range) continue;
    const auto [base, fresh] = names.try_emplace(event.name);
    if (fresh) base->second = without_number(from.recording.name_of(event));
    if (base->second.size() < from.recording.name_of(event).size() && from.around[i] != kNone) continue;
    Group& group = groups[{event.lane, base->second}];
    group.name = base->second;
    group.spans.push_back({event.start_ns, event.end_ns()});
    group.total_ns += static_cast<double>(event.duration_ns);
  }
  std::vector<Group> found;
  for (auto& [key, group] : groups)
    if (group.spans.size() > 1) found.push_back(std::move(group));
  std::ranges::stable_sort(found, std::greater{}, &Group::total_ns);
  found.resize(std::min(found.size(), kMostGroups));
  return found;
}

Steps repeated_ranges(const Sources& from) {
  for (const Group& group : groups_of_ranges(from)) {
    const std::vector<Span> spans = apart(group.spans);
    if (spans.size() > 1 && share_launched_in(spans, from) >= 0.8)
      return {spans, fmt::format("ranges '{}'", std::string_view(group.name).substr(0, kMostNameShown))};
  }
  return {};
}

// ---- launches
// A call with the work behind it.
struct Launch {
  int64_t start_ns = 0, end_ns = 0;
  uint32_t token = 0;  // the same for the same kernels
  Span work = {INT64_MAX, INT64_MIN};
};

std::vector<Launch> graph_launches(const Sources& from, double& share) {
  const Recording& recording = from.recording;
  std::map<uint32_t, Launch> launches;  // by call
  double inside = 0, all = 0;
  for (const Work& work : from.device.work) {
    const Event& event = recording.events[work.event];
    all += static_cast<double>(event.duration_ns);
    if (work.call == kNone) continue;
    const Event& call = recording.events[work.call];
    if (recording.name_of(call).find("GraphLaunch") == std::string_view::npos) continue;
    Launch& launch = launches[work.call];
    launch.start_ns = call.start_ns;
    launch.end_ns = call.end_ns();
    launch.token = launch.token * 0x01000193 + event.name + 1;
    launch.work = {std::min(launch.work.start_ns, event.start_ns), std::max(launch.work.end_ns, event.end_ns())};
    inside += static_cast<double>(event.duration_ns);
  }
  share = all > 0 ? inside / all : 0;
  std::vector<Launch> found;
  for (const auto& [call, launch] : launches) found.push_back(launch);
  std::ranges::stable_sort(found, {}, &Launch::start_ns);
  return found;
}

// From launch to launch; the last one ends with its last call.
std::vector<Span> spans_between(const std::vector<Launch>& launches, const std::vector<size_t>& cuts) {
  std::vector<Span> spans;
  for (size_t i = 0; i + 1 < cuts.size(); ++i) {
    const int64_t start = launches[cuts[i]].start_ns;
    const bool last = i + 2 == cuts.size();
    spans.push_back({start, last ? launches[cuts[i + 1] - 1].end_ns : launches[cuts[i + 1]].start_ns});
  }
  return spans;
}

std::vector<uint32_t> tokens_of(const std::vector<Launch>& launches) {
  std::vector<uint32_t> tokens;
  tokens.reserve(launches.size());
  for (const Launch& launch : launches) tokens.push_back(launch.token);
  return tokens;
}

// Before each, on the device.
std::vector<int64_t> pauses_of(const std::vector<Launch>& launches) {
  std::vector<int64_t> pauses(launches.size(), 0);
  for (size_t i = 1; i < launches.size(); ++i)
    pauses[i] = std::max<int64_t>(0, launches[i].work.start_ns - launches[i - 1].work.end_ns);
  return pauses;
}

Steps repeated_graphs(const Sources& from) {
  double share = 0;
  const std::vector<Launch> launches = graph_launches(from, share);
  if (launches.size() < 2 || share < 0.5) return {};
  return {spans_between(launches, find_repetitions(tokens_of(launches), pauses_of(launches))), "graph launches"};
}

// The stream with the most work: streams that overlap make an order that differs from step to step.
uint16_t main_stream(const Sources& from) {
  std::unordered_map<uint16_t, size_t> counts;
  for (const Work& work : from.device.work) ++counts[from.recording.events[work.event].lane];
  const auto more = [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second < b.second : a.first > b.first;
  };
  return std::ranges::max_element(counts, more)->first;
}

Steps repeated_kernels(const Sources& from) {
  std::vector<Launch> launches;
  const uint16_t stream = main_stream(from);
  for (size_t i = 0; i < from.device.work.size(); ++i) {
    const Work& work = from.device.work[i];
    const Event& event = from.recording.events[work.event];
    const int64_t launch = from.device.launch[i];
    if (event.lane != stream || launch == kBeforeRecording) continue;
    const int64_t end = work.call == kNone ? event.end_ns() : from.recording.events[work.call].end_ns();
    launches.push_back({launch, std::max(end, launch + 1), event.name, {event.start_ns, event.end_ns()}});
  }
  const std::vector<size_t> cuts = find_repetitions(tokens_of(launches), pauses_of(launches));
  return {apart(spans_between(launches, cuts)), "repeated kernels"};
}

}  // namespace

Steps host_steps(const Recording& recording, const std::vector<uint32_t>& around, const DeviceWork& device) {
  const Sources from{recording, around, device};
  if (!device.work.empty())
    for (const auto& find : {profiler_steps, repeated_ranges, repeated_graphs, repeated_kernels})
      if (Steps steps = find(from); !steps.spans.empty()) return steps;
  return {{}, "nothing repeats"};
}

void place_on_device(std::vector<Span>& spans, const Recording& recording, const DeviceWork& device) {
  if (spans.empty()) return;
  constexpr int64_t kNever = INT64_MAX;
  // Of what was launched between the begins of two spans: within the first, or after it.
  std::vector<int64_t> first_start(spans.size() + 1, kNever), last_end(spans.size() + 1, INT64_MIN), end_in = last_end;
  for (size_t i = 0; i < device.work.size(); ++i) {
    const Event& event = recording.events[device.work[i].event];
    const size_t begun = begun_by(spans, device.launch[i]);
    last_end[begun] = std::max(last_end[begun], event.end_ns());
    if (begun == 0 || device.launch[i] >= spans[begun - 1].end_ns) continue;
    first_start[begun] = std::min(first_start[begun], event.start_ns);
    end_in[begun] = std::max(end_in[begun], event.end_ns());
  }
  int64_t pending = last_end[0];
  const Span first = spans.front();
  for (size_t i = 0; i < spans.size(); ++i) {
    const int64_t earliest = i == 0 ? INT64_MIN : spans[i - 1].end_ns;
    const int64_t free = std::min(pending, first_start[i + 1]);  // streams may overlap
    spans[i].start_ns = std::max({spans[i].start_ns, free == kNever ? INT64_MIN : free, earliest});
    spans[i].end_ns = std::max({spans[i].end_ns, end_in[i + 1], spans[i].start_ns});
    pending = std::max(pending, last_end[i + 1]);
  }
  // A device's clock may be early by a little.
  if (first_start[1] < first.start_ns) spans.front().start_ns = first_start[1];
}

}  // namespace rung::advise
