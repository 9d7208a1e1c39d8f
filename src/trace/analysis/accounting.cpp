// Cuts idle time at the ends of steps; time between steps belongs to no step.
// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/accounting.hpp"

#include <algorithm>
#include <unordered_map>

#include "trace/analysis/gap_cause.hpp"
#include "trace/analysis/steps.hpp"

namespace rung::trace {
namespace {

// Returns the span of the steps; if nothing repeats, that of all device work and host operations.
Span wall_of(const Analysis& analysis, const DeviceWork& device) {
  const std::vector<Span>& steps = analysis.steps.spans;
  if (!steps.empty()) return {steps.front().start_ns, steps.back().end_ns};
  if (device.work.empty()) return {};
  Span wall{INT64_MAX, INT64_MIN};
  for (const Event& event : analysis.recording.events) {
    if (event.kind == EventKind::range || event.kind == EventKind::function) continue;
    wall.start_ns = std::min(wall.start_ns, event.start_ns);
    wall.end_ns = std::max(wall.end_ns, event.end_ns());
  }
  return wall;
}

std::vector<Span> spans_of(const Analysis& analysis) {
  if (!analysis.steps.spans.empty()) return analysis.steps.spans;
  return {analysis.accounting.wall};
}

// Returns the index of each piece of work among those that begin in a step; kNone: it begins in no step.
std::vector<uint32_t> places_in_steps(const Analysis& analysis, const DeviceWork& device) {
  std::vector<uint32_t> places(device.work.size(), kNone);
  const std::vector<Span> spans = spans_of(analysis);
  uint32_t next = 0;
  for (size_t i = 0, step = 0; i < device.work.size(); ++i) {
    const int64_t start = analysis.event(device.work[i]).start_ns;
    while (step < spans.size() && spans[step].end_ns <= start) ++step;
    if (step < spans.size() && spans[step].start_ns <= start) places[i] = next++;
  }
  return places;
}

// Cuts idle time at the ends of steps, names the causes of gaps in steps, and omits the rest.
class GapMaker {
 public:
  GapMaker(Analysis& analysis, const DeviceWork& device, const std::vector<uint32_t>& places)
      : analysis_(analysis),
        places_(places),
        spans_(spans_of(analysis)),
        causes_(analysis.recording, device, analysis.launches) {}

  // Adds idle time between two pieces of work of `device`, kNone at the ends of the wall.
  void add(Span idle, uint32_t before, uint32_t after) {
    while (step_ < spans_.size() && spans_[step_].end_ns <= idle.start_ns) ++step_;
    for (size_t i = step_; i < spans_.size() && spans_[i].start_ns < idle.end_ns; ++i) {
      const Span span{std::max(idle.start_ns, spans_[i].start_ns), std::min(idle.end_ns, spans_[i].end_ns)};
      if (span.length_ns() > 0) push(span, before, after, span.start_ns == idle.start_ns);
    }
  }

 private:
  void push(Span span, uint32_t before, uint32_t after, bool starts_after_work) {
    const bool after_work = starts_after_work && before != kNone;
    for (Gap gap : causes_.explained({span, GapCause::unknown, before, after}, after_work)) {
      gap.before = before == kNone ? kNone : places_[before];
      gap.after = after == kNone ? kNone : places_[after];
      analysis_.accounting.gaps.push_back(gap);
    }
  }

  Analysis& analysis_;
  const std::vector<uint32_t>& places_;
  const std::vector<Span> spans_;
  const GapCauses causes_;
  size_t step_ = 0;
};

void add_gaps(Analysis& analysis, const DeviceWork& device, const std::vector<uint32_t>& places) {
  Accounting& accounting = analysis.accounting;
  GapMaker gaps(analysis, device, places);
  int64_t done = accounting.wall.start_ns;
  uint32_t before = kNone;
  for (uint32_t i = 0; i < device.work.size(); ++i) {
    const Event& event = analysis.recording.events[device.work[i].event];
    if (event.start_ns >= accounting.wall.end_ns) break;
    if (event.start_ns > done) gaps.add({done, event.start_ns}, before, i);
    if (event.end_ns() >= done && event.end_ns() > accounting.wall.start_ns) before = i;
    done = std::max(done, event.end_ns());
  }
  if (done < accounting.wall.end_ns) gaps.add({done, accounting.wall.end_ns}, before, kNone);
}

// Returns the thread that launched most of the work; of equals the first recorded.
std::optional<uint16_t> launching_lane(const Analysis& analysis) {
  std::unordered_map<uint16_t, size_t> counts;
  for (const Work& work : analysis.work)
    if (work.call != kNone) ++counts[analysis.recording.events[work.call].lane];
  const auto fewer = [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second < b.second : a.first > b.first;
  };
  const auto most = std::ranges::max_element(counts, fewer);
  return most == counts.end() ? std::nullopt : std::optional(most->first);
}

// Saturates: streams overlap, and the sum of a faulty recording may overflow.
void add_to(int64_t& sum, int64_t ns) { sum = ns > INT64_MAX - sum ? INT64_MAX : sum + ns; }

// Returns host time within spans that are in order and apart.
int64_t host_op_ns(const Analysis& analysis, const std::vector<Span>& spans) {
  const std::optional<uint16_t> lane = launching_lane(analysis);
  int64_t sum = 0, done = INT64_MIN;
  if (!lane) return 0;
  size_t first = 0;
  for (const Event& event : analysis.recording.events) {
    const bool counts = event.kind == EventKind::host_op || event.kind == EventKind::runtime_call;
    if (!counts || event.lane != *lane || event.end_ns() <= done) continue;
    while (first < spans.size() && spans[first].end_ns <= event.start_ns) ++first;
    for (size_t i = first; i < spans.size() && spans[i].start_ns < event.end_ns(); ++i)
      sum += std::max<int64_t>(
          0, std::min(event.end_ns(), spans[i].end_ns) - std::max({event.start_ns, spans[i].start_ns, done}));
    done = event.end_ns();
  }
  return sum;
}

// Adds the sums that follow from the work, the gaps and the steps' spans.
void add_sums(Analysis& analysis) {
  Accounting& accounting = analysis.accounting;
  const std::vector<Span> spans = spans_of(analysis);
  accounting.time_ns = 0;
  for (const Span& span : spans) accounting.time_ns += span.length_ns();
  accounting.busy_ns = accounting.time_ns;
  for (const Gap& gap : accounting.gaps) accounting.busy_ns -= gap.span.length_ns();
  for (const Work& work : analysis.work)
    add_to(accounting.by_category_ns[static_cast<size_t>(work.kind.category)], analysis.event(work).duration_ns);
  accounting.host_op_ns = host_op_ns(analysis, spans);
}

void add_outside(Analysis& analysis, const DeviceWork& device, const std::vector<uint32_t>& places) {
  const auto& outliers = analysis.steps.outliers;
  const auto start_of = [](const Steps::Outlier& outlier) { return outlier.span.start_ns; };
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i] != kNone) continue;
    const Event& event = analysis.event(device.work[i]);
    const auto after = std::ranges::upper_bound(outliers, event.start_ns, {}, start_of);
    if (after != outliers.begin() && event.start_ns < std::prev(after)->span.end_ns) continue;
    ++analysis.accounting.outside;
    add_to(analysis.accounting.outside_ns, event.duration_ns);
  }
}

}  // namespace

void account(Analysis& analysis, DeviceWork device) {
  Accounting& accounting = analysis.accounting;
  accounting.device = device.device;
  accounting.wall = wall_of(analysis, device);
  const std::vector<uint32_t> places = places_in_steps(analysis, device);
  add_gaps(analysis, device, places);
  add_outside(analysis, device, places);
  for (size_t i = 0; i < places.size(); ++i)
    if (places[i] != kNone) analysis.work.push_back(device.work[i]);
  add_sums(analysis);
}

Analysis median_step(const Analysis& all) {
  Analysis one(all.recording);
  one.all = &all;
  one.launches = all.launches;
  one.steps.found_by = all.steps.found_by;
  one.accounting.device = all.accounting.device;
  one.accounting.wall = all.accounting.wall;
  if (!all.steps.spans.empty()) {
    const size_t median = median_of(all.steps.spans);
    one.steps.spans = {all.steps.spans[median]};
    one.steps.host = {all.steps.host[median]};
    one.accounting.wall = all.steps.spans[median];
  }
  const Span& span = one.accounting.wall;
  const auto is_in = [&](int64_t ns) { return span.start_ns <= ns && ns < span.end_ns; };
  std::vector<uint32_t> places(all.work.size(), kNone);
  for (size_t i = 0; i < all.work.size(); ++i) {
    if (!is_in(all.event(all.work[i]).start_ns)) continue;
    places[i] = static_cast<uint32_t>(one.work.size());
    one.work.push_back(all.work[i]);
  }
  for (Gap gap : all.accounting.gaps) {
    if (!is_in(gap.span.start_ns)) continue;
    if (gap.before != kNone) gap.before = places[gap.before];
    if (gap.after != kNone) gap.after = places[gap.after];
    one.accounting.gaps.push_back(gap);
  }
  add_sums(one);
  return one;
}

}  // namespace rung::trace
