// Goes through work by start, with the latest ends on its own stream and on others.
// SPDX-License-Identifier: Apache-2.0
#include "trace/findings/stream_order.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace rung::trace {
namespace {

constexpr size_t kMostStreams = 256;     // more streams are not distinguished
constexpr int64_t kToDeviceNs = 20'000;  // a generous time from a launch to its work on an idle stream

struct Stream {
  int64_t launched_ns = INT64_MIN, end_ns = INT64_MIN;
};

// Returns the times of calls by which a stream waits for an event, in order.
std::vector<int64_t> event_waits(const Recording& recording) {
  std::vector<int64_t> found;
  std::unordered_map<uint32_t, bool> names;
  for (const Event& event : recording.events) {
    if (event.kind != EventKind::runtime_call) continue;
    const auto [known, fresh] = names.try_emplace(event.name);
    if (fresh) known->second = recording.name_of(event).find("StreamWaitEvent") != std::string_view::npos;
    if (known->second) found.push_back(event.start_ns);
  }
  return found;
}

bool any_between(const std::vector<int64_t>& times, int64_t from, int64_t until) {
  const auto at = std::ranges::lower_bound(times, from);
  return at != times.end() && *at < until;
}

bool has_too_many_streams(const Analysis& analysis) {
  std::unordered_set<uint16_t> lanes;
  for (const Work& work : analysis.work) lanes.insert(analysis.event(work).lane);
  return lanes.size() > kMostStreams;
}

// Returns the latest end, up to `ns`, of work on streams other than `lane`.
int64_t others_done_ns(const std::unordered_map<uint16_t, Stream>& streams, uint16_t lane, int64_t ns) {
  int64_t done = INT64_MIN;
  for (const auto& [other, stream] : streams)
    if (other != lane && stream.end_ns <= ns) done = std::max(done, stream.end_ns);
  return done;
}

}  // namespace

std::vector<bool> waits_for_other_streams(const Analysis& analysis) {
  std::vector<bool> waits(analysis.work.size(), true);
  if (has_too_many_streams(analysis)) return waits;
  const std::vector<int64_t> events = event_waits(analysis.recording);
  std::unordered_map<uint32_t, size_t> by_call;
  for (const Work& work : analysis.work) ++by_call[work.call];
  std::unordered_map<uint16_t, Stream> streams;
  for (size_t i = 0; i < analysis.work.size(); ++i) {
    const Event& work = analysis.event(analysis.work[i]);
    Stream& own = streams[work.lane];
    const uint32_t at = analysis.work[i].call;
    if (at != kNone && by_call[at] == 1) {
      const Event& call = analysis.recording.events[at];
      const int64_t others = others_done_ns(streams, work.lane, work.start_ns);
      const bool began_late = work.start_ns - std::max(call.end_ns(), own.end_ns) > kToDeviceNs;
      const bool waited = call.end_ns() < others && began_late;
      waits[i] = waited || any_between(events, own.launched_ns, call.start_ns);
      own.launched_ns = std::max(own.launched_ns, call.start_ns);
    }
    own.end_ns = std::max(own.end_ns, work.end_ns());
  }
  return waits;
}

int64_t overlap_ns(const Analysis& analysis) {
  if (has_too_many_streams(analysis)) return 0;
  const std::vector<bool> waits = waits_for_other_streams(analysis);
  struct Ends {
    int64_t then_ns = INT64_MIN, now_ns = 0;
  };
  std::unordered_map<uint16_t, Ends> streams;
  int64_t last_ns = 0;
  for (size_t i = 0; i < analysis.work.size(); ++i) {
    const Event& work = analysis.event(analysis.work[i]);
    int64_t start = streams[work.lane].now_ns;
    if (waits[i])
      for (const auto& [lane, ends] : streams)
        if (ends.then_ns <= work.start_ns) start = std::max(start, ends.now_ns);
    Ends& own = streams[work.lane];
    own = {std::max(own.then_ns, work.end_ns()), start + work.duration_ns};
    last_ns = std::max(last_ns, own.now_ns);
  }
  return std::max<int64_t>(0, analysis.accounting.busy_ns - last_ns);
}

}  // namespace rung::trace
