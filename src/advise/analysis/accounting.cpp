// The wall is cut at the ends of work and of steps.
// SPDX-License-Identifier: Apache-2.0
#include "advise/analysis/accounting.hpp"

#include <algorithm>
#include <unordered_map>

#include "advise/analysis/gap_cause.hpp"

namespace rung::advise {
namespace {

// Of all device work and host operations where nothing repeats.
Span wall_of(const Analysis& analysis, const DeviceWork& device) {
  const std::vector<Span>& steps = analysis.steps.spans;
  if (!steps.empty()) return {steps.front().start_ns, steps.back().end_ns};
  if (device.work.empty()) return {};
  Span wall{INT64_MAX, INT64_MIN};
  for (const Event& event : analysis.recording.events) {
    if (event.kind == EventKind::range) continue;
    wall.start_ns = std::min(wall.start_ns, event.start_ns);
    wall.end_ns = std::max(wall.end_ns, event.end_ns());
  }
  return wall;
}

// Of work, by index: what begins within the wall.
struct Kept {
  size_t first = 0, last = 0;
};

// Cuts gaps at the ends of steps, and names their causes.
class GapMaker {
 public:
  GapMaker(Analysis& analysis, const DeviceWork& device, Kept kept)
      : analysis_(analysis), device_(device), kept_(kept), causes_(analysis.recording, device.work) {}

  // Between the two pieces of work of `device`, kNone at the ends of the wall.
  void add(Span span, uint32_t before, uint32_t after) {
    const std::vector<Span>& steps = analysis_.steps.spans;
    const int64_t begin = span.start_ns;
    while (span.length_ns() > 0) {
      while (step_ < steps.size() && steps[step_].end_ns <= span.start_ns) ++step_;
      const bool within = steps.empty() || (step_ < steps.size() && steps[step_].start_ns <= span.start_ns);
      int64_t end = span.end_ns;
      if (step_ < steps.size()) end = std::min(end, within ? steps[step_].end_ns : steps[step_].start_ns);
      push({{span.start_ns, end}, GapCause::unknown, before, after}, within, span.start_ns == begin);
      span.start_ns = end;
    }
  }

 private:
  const Work* work_at(uint32_t i) const { return i == kNone ? nullptr : &device_.work[i]; }
  uint32_t in_analysis(uint32_t i) const {
    return i >= kept_.first && i < kept_.last ? static_cast<uint32_t>(i - kept_.first) : kNone;
  }

  void push(Gap gap, bool within_step, bool after_work) {
    if (within_step)
      causes_.explain(gap, work_at(gap.before), work_at(gap.after), after_work && gap.before != kNone);
    else
      gap.cause = GapCause::between_steps;
    gap.before = in_analysis(gap.before);
    gap.after = in_analysis(gap.after);
    analysis_.accounting.gaps.push_back(gap);
  }

  Analysis& analysis_;
  const DeviceWork& device_;
  const Kept kept_;
  const GapCauses causes_;
  size_t step_ = 0;
};

void add_gaps(Analysis& analysis, const DeviceWork& device, Kept kept) {
  Accounting& accounting = analysis.accounting;
  GapMaker gaps(analysis, device, kept);
  int64_t done = accounting.wall.start_ns;
  uint32_t before = kNone;
  accounting.busy_ns = accounting.wall.length_ns();
  for (uint32_t i = 0; i < device.work.size(); ++i) {
    const Event& event = analysis.recording.events[device.work[i].event];
    if (event.start_ns >= accounting.wall.end_ns) break;
    if (event.start_ns > done) gaps.add({done, event.start_ns}, before, i);
    if (event.end_ns() >= done && event.end_ns() > accounting.wall.start_ns) before = i;
    done = std::max(done, event.end_ns());
  }
  if (done < accounting.wall.end_ns) gaps.add({done, accounting.wall.end_ns}, before, kNone);
  for (const Gap& gap : accounting.gaps) accounting.busy_ns -= gap.span.length_ns();
}

// The thread that launched most of the work; of equals the first that was recorded.
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

// Streams overlap: a recording that lies may have more than fits.
void add_to(int64_t& sum, int64_t ns) { sum = ns > INT64_MAX - sum ? INT64_MAX : sum + ns; }

int64_t host_op_ns(const Analysis& analysis) {
  const std::optional<uint16_t> lane = launching_lane(analysis);
  const Span wall = analysis.accounting.wall;
  int64_t sum = 0, done = wall.start_ns;
  if (!lane) return 0;
  for (const Event& event : analysis.recording.events) {
    const bool counts = event.kind == EventKind::host_op || event.kind == EventKind::runtime_call;
    if (!counts || event.lane != *lane) continue;
    const int64_t end = std::min(event.end_ns(), wall.end_ns);
    sum += std::max<int64_t>(0, end - std::max(event.start_ns, done));
    done = std::max(done, end);
  }
  return sum;
}

}  // namespace

void account(Analysis& analysis, DeviceWork device) {
  Accounting& accounting = analysis.accounting;
  accounting.device = device.device;
  accounting.wall = wall_of(analysis, device);
  const auto begin = device.work.begin();
  const auto start_of = [&](const Work& work) { return analysis.event(work).start_ns; };
  const auto first = std::ranges::lower_bound(device.work, accounting.wall.start_ns, {}, start_of);
  const auto last = std::ranges::lower_bound(device.work, accounting.wall.end_ns, {}, start_of);
  add_gaps(analysis, device, {static_cast<size_t>(first - begin), static_cast<size_t>(last - begin)});
  device.work.erase(last, device.work.end());
  device.work.erase(begin, first);
  analysis.work = std::move(device.work);
  for (const Work& work : analysis.work)
    add_to(accounting.by_category_ns[static_cast<size_t>(work.kind.category)], analysis.event(work).duration_ns);
  accounting.host_op_ns = host_op_ns(analysis);
}

}  // namespace rung::advise
