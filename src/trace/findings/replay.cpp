// A replay maps recorded host moments to new times, stop by stop; the device's work follows.
// SPDX-License-Identifier: Apache-2.0
#include "trace/findings/replay.hpp"

#include <algorithm>
#include <cmath>
#include <queue>

#include "trace/findings/derived.hpp"
#include "trace/findings/evidence.hpp"
#include "trace/findings/stream_order.hpp"

namespace rung::trace {
namespace {

constexpr double kPartsOfShare[] = {1, 0.5, 0.25};  // parts of the largest share of host time that was the host's own

constexpr double kBeforeAll = -1e300;

// Recorded end times of work, and its end times in the replay.
class Ends {
 public:
  void add(int64_t then_ns, double now_ns) { running_.push({then_ns, now_ns}); }

  // Returns the end of the last work that had ended at a recorded moment.
  struct End {
    int64_t then_ns = INT64_MIN;
    double now_ns = kBeforeAll;
  };
  End latest(int64_t then_ns) {
    for (; !running_.empty() && running_.top().then_ns <= then_ns; running_.pop()) ended_.push_back(running_.top());
    if (!ended_.empty() && ended_.back().then_ns <= then_ns) return ended_.back();
    const auto after = std::ranges::upper_bound(ended_, then_ns, {}, &End::then_ns);
    return after == ended_.begin() ? End{} : *std::prev(after);
  }

 private:
  struct Later {
    bool operator()(const End& a, const End& b) const { return a.then_ns > b.then_ns; }
  };
  std::priority_queue<End, std::vector<End>, Later> running_;
  std::vector<End> ended_;  // by recorded time
};

// A span of the host that no profiler slows.
struct Stop {
  enum Kind : uint8_t { gone, lasts, waits };  // takes no time; as long as recorded; until the device arrives
  Span span;
  Kind kind = gone;
};

// The host's pace, and whether each piece of work waits for earlier work on other streams.
struct Manner {
  double pace = 1;
  const std::vector<bool>& waits;
};

class Replay {
 public:
  Replay(const Analysis& analysis, std::vector<Stop> stops, std::vector<bool> omitted, const Manner& manner)
      : analysis_(analysis),
        stops_(std::move(stops)),
        omitted_(std::move(omitted)),
        pace_(manner.pace),
        waits_(manner.waits),
        stream_end_(analysis.recording.lanes.size()) {
    const int64_t start = analysis.accounting.wall.start_ns;
    line_.push_back({start, static_cast<double>(start)});
  }

  // Returns when the device ends.
  double run() {
    double end = line_.front().now_ns;
    for (uint32_t i = 0; i < analysis_.work.size(); ++i) end = std::max(end, place(i));
    return end;
  }

 private:
  struct Moment {
    int64_t then_ns;
    double now_ns;
  };

  double place(uint32_t index) {
    const Event& work = analysis_.event(analysis_.work[index]);
    Ends::End& own = stream_end_[work.lane];
    const Ends::End before = waits_[index] ? ends_.latest(work.start_ns) : own;
    double start = std::max(before.now_ns, own.now_ns);
    const uint32_t call = analysis_.work[index].call;
    const bool in_time = call == kNone || analysis_.recording.events[call].end_ns() <= before.then_ns;
    if (before.then_ns != INT64_MIN && in_time) start += static_cast<double>(work.start_ns - before.then_ns);
    if (call != kNone) start = std::max(start, launched(analysis_.recording.events[call], work, in_time));
    if (start == kBeforeAll) start = static_cast<double>(work.start_ns);
    const double end = start + (omitted_[index] ? 0 : static_cast<double>(work.duration_ns));
    ends_.add(work.end_ns(), end);
    own = {std::max(own.then_ns, work.end_ns()), end};
    return end;
  }

  // Returns the earliest moment at which the launch lets work start.
  double launched(const Event& call, const Event& work, bool in_time) {
    const double now = host_at(call.start_ns);
    return in_time ? now : now + static_cast<double>(std::max<int64_t>(work.start_ns - call.start_ns, 0));
  }

  double host_at(int64_t then_ns) {
    for (; next_ < stops_.size() && stops_[next_].span.start_ns < then_ns; ++next_) pass(stops_[next_]);
    const auto after = std::ranges::upper_bound(line_, then_ns, {}, &Moment::then_ns);
    const Moment from = after == line_.begin() ? line_.front() : *std::prev(after);
    const double since = static_cast<double>(then_ns - from.then_ns);
    return after == line_.end() || after == line_.begin() ? from.now_ns + since * pace_
                                                          : between(from, *after, then_ns);
  }
  static double between(const Moment& a, const Moment& b, int64_t then_ns) {
    const double share = static_cast<double>(then_ns - a.then_ns) / static_cast<double>(b.then_ns - a.then_ns);
    return a.now_ns + share * (b.now_ns - a.now_ns);
  }

  void pass(const Stop& stop) {
    const Moment last = line_.back();
    if (stop.span.end_ns <= last.then_ns) return;
    const int64_t begin = std::max(stop.span.start_ns, last.then_ns);
    const Moment start{begin, last.now_ns + static_cast<double>(begin - last.then_ns) * pace_};
    if (begin > last.then_ns) line_.push_back(start);
    line_.push_back({stop.span.end_ns, end_of({begin, stop.span.end_ns}, stop.kind, start.now_ns)});
  }
  double end_of(const Span& span, Stop::Kind kind, double now) {
    if (kind == Stop::gone) return now;
    const Ends::End awaited = kind == Stop::waits ? ends_.latest(span.end_ns) : Ends::End{};
    const int64_t since = std::max(span.start_ns, awaited.then_ns);
    return std::max(now, awaited.now_ns) + static_cast<double>(span.end_ns - since);
  }

  const Analysis& analysis_;
  std::vector<Stop> stops_;  // by start
  std::vector<bool> omitted_;
  double pace_;
  const std::vector<bool>& waits_;
  size_t next_ = 0;
  std::vector<Moment> line_;
  Ends ends_;
  std::vector<Ends::End> stream_end_;  // by lane
};

std::vector<Stop> stops_of(const Analysis& analysis, const HeldHost& host, const Omission& omission) {
  std::vector<uint32_t> omitted = omission.calls;
  std::vector<Stop> stops;
  for (const Span& span : omission.spans) stops.push_back({span, Stop::gone});
  const auto add = [&](uint32_t call, Stop::Kind kind) {
    const Event& event = analysis.recording.events[call];
    stops.push_back({{event.start_ns, event.end_ns()}, kind});
  };
  std::ranges::sort(omitted);
  for (const uint32_t call : omitted) add(call, Stop::gone);
  for (const GapCause cause : {GapCause::synchronization, GapCause::copy, GapCause::allocation})
    for (const uint32_t call : host.by(cause))
      if (!std::ranges::binary_search(omitted, call)) add(call, host.waits(call) ? Stop::waits : Stop::lasts);
  std::ranges::stable_sort(stops, {}, [](const Stop& stop) { return stop.span.start_ns; });
  return stops;
}

}  // namespace

Replays::Replays(const Analysis& analysis)
    : analysis_(analysis),
      host_(held_host(analysis)),
      all_wait_(analysis.work.size(), true),
      some_wait_(waits_for_other_streams(analysis)) {}

double Replays::end_ns(const Omission& omission, double pace, const std::vector<bool>& waits) const {
  std::vector<bool> omitted(analysis_.work.size());
  for (const uint32_t work : omission.work) omitted[work] = true;
  return Replay(analysis_, stops_of(analysis_, host_.held, omission), std::move(omitted), {pace, waits}).run();
}

int64_t Replays::profiler_ns() const {
  return std::llround(end_ns({}, 1, all_wait_) - end_ns({}, host_.own_share, all_wait_));
}

int64_t Replays::most_saved_ns(const Omission& omission) const {
  double most = 0;
  for (const double part : kPartsOfShare) {
    const double pace = host_.own_share * part;
    for (const std::vector<bool>* waits : {&all_wait_, &some_wait_}) {
      if (waits == &some_wait_ && some_wait_ == all_wait_) continue;
      most = std::max(most, end_ns({}, pace, *waits) - end_ns(omission, pace, *waits));
    }
  }
  return std::llround(most);
}

double most_saved_ms(const Analysis& analysis, const Omission& omission) {
  const double ms = ms_per_step(analysis, Replays(analysis).most_saved_ns(omission));
  return std::min(ms, step_ms(analysis));
}

}  // namespace rung::trace
