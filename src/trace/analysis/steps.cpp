// Finds steps in four ways, the surest first: the first that finds any counts.
// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/steps.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "trace/analysis/launch_calls.hpp"
#include "trace/analysis/range_steps.hpp"
#include "trace/analysis/repetition.hpp"

namespace rung::trace {
namespace {

constexpr std::string_view kProfilerStep = "ProfilerStep";
constexpr double kOutlier = 1.5;  // times the median, or a fraction 1/kOutlier of it

Steps profiler_steps(const Sources& from) {
  std::vector<Span> spans;
  for (const Event& event : from.recording.events)
    if (event.kind == EventKind::range && from.recording.name_of(event).starts_with(kProfilerStep))
      spans.push_back({event.start_ns, event.end_ns()});
  return {.spans = apart(spans), .found_by = "ProfilerStep ranges"};
}

// ---- launches
// A call and the work that it started.
struct Launch {
  int64_t start_ns = 0, end_ns = 0;
  uint32_t token = 0;  // equal for equal kernels
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

// Returns each step's span, from its first launch to its last launching call: a loop may pause between steps.
std::vector<Span> spans_between(const std::vector<Launch>& launches, const std::vector<size_t>& cuts,
                                const Sources& from) {
  std::vector<Span> spans;
  for (size_t i = 0; i + 1 < cuts.size(); ++i)
    spans.push_back({launches[cuts[i]].start_ns, launches[cuts[i + 1] - 1].end_ns});
  if (spans.empty()) return spans;
  const int64_t end = cuts.back() < launches.size() ? launches[cuts.back()].start_ns : INT64_MAX;
  const std::vector<Span> begins = spans;
  for (size_t i = 0; i < from.device.work.size(); ++i) {
    const int64_t launch = from.device.launch[i];
    const size_t begun = begun_by(begins, launch);
    if (begun == 0 || launch >= end) continue;
    const uint32_t call = from.device.work[i].call;
    const int64_t done = call == kNone ? launch + 1 : from.recording.events[call].end_ns();
    spans[begun - 1].end_ns = std::max(spans[begun - 1].end_ns, done);
  }
  for (size_t i = 0; i + 1 < spans.size(); ++i) spans[i].end_ns = std::min(spans[i].end_ns, spans[i + 1].start_ns);
  return spans;
}

std::vector<uint32_t> tokens_of(const std::vector<Launch>& launches) {
  std::vector<uint32_t> tokens;
  tokens.reserve(launches.size());
  for (const Launch& launch : launches) tokens.push_back(launch.token);
  return tokens;
}

// Returns the device's pause before each launch's work.
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
  const std::vector<size_t> cuts = find_repetitions(tokens_of(launches), pauses_of(launches));
  return {.spans = spans_between(launches, cuts, from), .found_by = "graph launches"};
}

// Returns the stream with the most work: overlapping streams give an order that differs from step to step.
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
  return {.spans = apart(spans_between(launches, cuts, from)), .found_by = "repeated kernels"};
}

// Drops steps without launches: a profiler that is stopped after its last step leaves such a range.
void drop_empty(Steps& steps, const Sources& from) {
  std::vector<bool> launched(steps.spans.size());
  const auto note = [&](int64_t ns) {
    const size_t begun = begun_by(steps.spans, ns);
    if (begun > 0 && ns < steps.spans[begun - 1].end_ns) launched[begun - 1] = true;
  };
  for (const int64_t launch : from.device.launch) note(launch);
  std::unordered_map<uint32_t, bool> launches;  // by the name's number
  for (const Event& event : from.recording.events) {
    if (event.kind != EventKind::runtime_call) continue;
    const auto [known, fresh] = launches.try_emplace(event.name);
    const std::string_view name = from.recording.name_of(event);
    if (fresh) known->second = launches_kernel(name) || launches_graph(name);
    if (known->second) note(event.start_ns);
  }
  std::vector<Span> kept;
  for (size_t i = 0; i < launched.size(); ++i)
    if (launched[i]) kept.push_back(steps.spans[i]);
  steps.empty = steps.spans.size() - kept.size();
  steps.spans = std::move(kept);
}

}  // namespace

Steps host_steps(const Recording& recording, const std::vector<uint32_t>& around, const DeviceWork& device) {
  const Sources from{recording, around, device};
  if (device.work.empty()) return {.found_by = "nothing repeats"};
  for (const auto& find : {profiler_steps, range_steps, repeated_graphs, repeated_kernels}) {
    Steps steps = find(from);
    drop_empty(steps, from);
    if (!steps.spans.empty()) return steps;
    if (steps.found_by == kOnePass) break;
  }
  return {.found_by = "nothing repeats"};
}

void place_on_device(Steps& steps, const Recording& recording, const DeviceWork& device) {
  std::vector<Span>& spans = steps.spans;
  steps.host = spans;
  if (spans.empty()) return;
  constexpr int64_t kNever = INT64_MAX;
  // Times of work launched from the start of one span to the next: within the first span, or after it.
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
  // A device's clock may be slightly early.
  if (first_start[1] < first.start_ns) spans.front().start_ns = first_start[1];
  for (size_t i = 1; i < spans.size(); ++i) steps.between_ns += spans[i].start_ns - spans[i - 1].end_ns;
}

size_t median_of(const std::vector<Span>& steps) {
  std::vector<size_t> order(steps.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {}, [&](size_t i) { return steps[i].length_ns(); });
  return order[(order.size() - 1) / 2];
}

void set_outliers_apart(Steps& steps) {
  if (steps.spans.empty()) return;
  const auto median = static_cast<double>(steps.spans[median_of(steps.spans)].length_ns());
  Steps kept = steps;
  kept.spans.clear();
  kept.host.clear();
  for (size_t i = 0; i < steps.spans.size(); ++i) {
    const auto length = static_cast<double>(steps.spans[i].length_ns());
    if (length > kOutlier * median || length * kOutlier < median) {
      kept.outliers.push_back({i + 1, steps.spans[i]});
      continue;
    }
    kept.spans.push_back(steps.spans[i]);
    kept.host.push_back(steps.host[i]);
  }
  steps = std::move(kept);
}

}  // namespace rung::trace
