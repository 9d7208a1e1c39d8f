// Goes over the recording once and compares each event with the gaps that it overlaps.
// SPDX-License-Identifier: Apache-2.0
#include "trace/findings/host_doings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "trace/findings/derived.hpp"
#include "trace/findings/evidence.hpp"

namespace rung::trace {
namespace {

constexpr std::string_view kNothing = "nothing that the recording shows";
constexpr double kMuch = 0.3;  // of a gap

// Facts of a gap: the shortest event over half of it, on its own and on other threads, and times inside it by name.
struct Doing {
  uint32_t own = kNone, others = kNone;
  std::map<uint32_t, int64_t> inside_ns;  // of the launching thread, by name
};

class DoingFinder {
 public:
  DoingFinder(const Analysis& analysis, const std::vector<LateGap>& gaps)
      : analysis_(analysis), gaps_(gaps), doings_(gaps.size()) {}

  std::vector<std::string> find() {
    const std::vector<Event>& events = analysis_.recording.events;
    for (uint32_t i = 0; i < events.size(); ++i) {
      if (is_on_device(events[i].kind) || events[i].lane >= analysis_.recording.lanes.size()) continue;
      auto gap = std::ranges::upper_bound(gaps_, events[i].start_ns, {}, &LateGap::launched_ns);
      for (; gap != gaps_.end() && gap->idle.start_ns < events[i].end_ns(); ++gap)
        note(i, static_cast<size_t>(gap - gaps_.begin()));
    }
    std::vector<std::string> words;
    for (size_t i = 0; i < gaps_.size(); ++i) words.push_back(in_words(doings_[i], gaps_[i]));
    return words;
  }

 private:
  std::string_view name(uint32_t event) const { return analysis_.recording.name_of(analysis_.recording.events[event]); }

  void note(uint32_t at, size_t gap) {
    const Event& event = analysis_.recording.events[at];
    if (event.kind == EventKind::range && analysis_.recording.name_of(event).starts_with("ProfilerStep")) return;
    const Span window{gaps_[gap].idle.start_ns, gaps_[gap].launched_ns};
    const int64_t inside = std::min(event.end_ns(), window.end_ns) - std::max(event.start_ns, window.start_ns);
    Doing& doing = doings_[gap];
    const uint32_t launch = gaps_[gap].call;
    const bool is_own = launch == kNone || analysis_.recording.events[launch].lane == event.lane;
    uint32_t& shortest = is_own ? doing.own : doing.others;
    if (is_own && event.kind != EventKind::range) doing.inside_ns[event.name] += inside;
    if (2 * inside < window.length_ns()) return;
    if (shortest == kNone || event.duration_ns <= analysis_.recording.events[shortest].duration_ns) shortest = at;
  }

  std::string in_words(const Doing& doing, const LateGap& gap) const {
    if (doing.own != kNone) return std::string(name(doing.own));
    const auto most = std::ranges::max_element(doing.inside_ns, {}, [](const auto& row) { return row.second; });
    const auto length = static_cast<double>(gap.launched_ns - gap.idle.start_ns);
    if (most != doing.inside_ns.end() && static_cast<double>(most->second) >= kMuch * length)
      return std::string(analysis_.recording.strings[most->first]);
    if (doing.others == kNone) return std::string(kNothing);
    const Lane& lane = analysis_.recording.lanes[analysis_.recording.events[doing.others].lane];
    return fmt::format("waiting while thread {} is in {}", lane.thread, name(doing.others));
  }

  const Analysis& analysis_;
  const std::vector<LateGap>& gaps_;
  std::vector<Doing> doings_;
};

// Returns the ends of calls that launched, or held up the host, by lane.
std::unordered_map<uint16_t, std::vector<int64_t>> ends_of_calls(const Analysis& analysis) {
  std::unordered_map<uint16_t, std::vector<int64_t>> ends;
  const auto add = [&](uint32_t call) {
    const Event& event = analysis.recording.events[call];
    ends[event.lane].push_back(event.end_ns());
  };
  for (const Work& work : analysis.work)
    if (work.call != kNone) add(work.call);
  for (const GapCause cause : {GapCause::synchronization, GapCause::copy, GapCause::allocation})
    for (const uint32_t call : held_host(analysis).held.by(cause)) add(call);
  for (auto& [lane, all] : ends) std::ranges::sort(all);
  return ends;
}

}  // namespace

std::vector<std::string> host_doings(const Analysis& analysis, const std::vector<LateGap>& gaps) {
  return DoingFinder(analysis, gaps).find();
}

std::vector<Span> preparation_spans(const Analysis& analysis) {
  std::vector<Span> spans;
  for (const uint32_t event : held_host(analysis).held.by(GapCause::compilation)) {
    const Event& held = analysis.recording.events[event];
    spans.push_back({held.start_ns, held.end_ns()});
  }
  std::vector<Span> steps = analysis.steps.host;
  if (steps.empty()) steps = {analysis.accounting.wall};
  return intersection_of(union_of(std::move(spans)), steps);
}

std::vector<Span> host_spans(const Analysis& analysis, const std::vector<LateGap>& gaps) {
  const auto ends = ends_of_calls(analysis);
  std::vector<Span> spans;
  for (const LateGap& gap : gaps) {
    Span span{gap.idle.start_ns, gap.launched_ns};
    if (gap.call != kNone) {
      const Event& launch = analysis.recording.events[gap.call];
      const auto lane = ends.find(launch.lane);
      span.end_ns = std::max(span.start_ns, std::min(launch.start_ns, gap.launched_ns));
      if (lane != ends.end()) {
        const auto next = std::ranges::upper_bound(lane->second, launch.start_ns);
        if (next != lane->second.begin()) span.start_ns = std::min(span.end_ns, *std::prev(next));
      }
    }
    spans.push_back(span);
  }
  return spans;
}

}  // namespace rung::trace
