// Makes one pass over events for each result: they are in order, so a thread's open events form a stack.
// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/device_work.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>

namespace rung::trace {
namespace {

bool is_on_host(const Recording& recording, const Event& event) {
  return !is_on_device(event.kind) && event.lane < recording.lanes.size();
}

// Returns whether an event ended before another began; a stack then holds only events that enclose the present one.
bool has_ended(const Event& event, const Event& before) { return event.end_ns() <= before.start_ns; }

// The runtime calls that may have started work, ordered by link and then by time.
class Calls {
 public:
  explicit Calls(const Recording& recording) : events_(recording.events) {
    for (size_t i = 0; i < events_.size(); ++i)
      if (events_[i].kind == EventKind::runtime_call && events_[i].link != 0 && is_on_host(recording, events_[i]))
        calls_.push_back(uint64_t{events_[i].link} << 32 | i);
    if (!std::ranges::is_sorted(calls_)) std::ranges::sort(calls_);
  }

  // Returns the last call of the same link that begins before the work; if all begin after it, because a device's clock
  // may be slightly early, the first.
  uint32_t starter_of(uint32_t work) const {
    const uint64_t link = events_[work].link;
    if (link == 0) return kNone;
    auto found = std::ranges::upper_bound(calls_, link << 32 | work);
    if (found != calls_.begin() && *std::prev(found) >> 32 == link) --found;
    return found != calls_.end() && *found >> 32 == link ? static_cast<uint32_t>(*found) : kNone;
  }

 private:
  const std::vector<Event>& events_;
  std::vector<uint64_t> calls_;
};

// Returns the device whose streams are busy for the longest time; of equals the lowest number.
int find_busiest(const Recording& recording) {
  struct Busy {
    int64_t until_ns = INT64_MIN, busy_ns = 0;
  };
  std::map<int, Busy> devices;
  for (const Event& event : recording.events) {
    if (!is_on_device(event.kind) || event.lane >= recording.lanes.size()) continue;
    Busy& busy = devices[recording.lanes[event.lane].device];
    busy.busy_ns += std::max<int64_t>(0, event.end_ns() - std::max(event.start_ns, busy.until_ns));
    busy.until_ns = std::max(busy.until_ns, event.end_ns());
  }
  const auto best = std::ranges::max_element(devices, {}, [](const auto& device) { return device.second.busy_ns; });
  return best == devices.end() ? -1 : best->first;
}

class KernelKinds {
 public:
  explicit KernelKinds(const Recording& recording) : recording_(recording) {}

  KernelClass of(const Event& event) {
    if (event.kind != EventKind::kernel) return {KernelCategory::copy, {}};
    const auto [known, fresh] = kinds_.try_emplace(event.name);
    if (fresh) known->second = classify(recording_.name_of(event));
    return known->second;
  }

 private:
  // In rung's own profiles kernels are named by rung's rows.
  KernelClass classify(std::string_view name) const {
    KernelClass kind = classify_kernel(name);
    if (kind.library.empty() && recording_.format == "rung profile") kind.library = "rung";
    return kind;
  }

  const Recording& recording_;
  std::unordered_map<uint32_t, KernelClass> kinds_;  // by the name's number
};

// On a stream, work runs in the order of its launches: work without a recorded call counts as launched with the work
// before it, or at its start if the device had long been idle. On a stream without any known launch, work counts as
// launched when it starts.
std::vector<int64_t> launch_times(const Recording& recording, const std::vector<Work>& work) {
  constexpr int64_t kLongIdleNs = 100'000;
  std::unordered_map<uint16_t, int64_t> last;  // of streams with known launches
  for (const Work& w : work)
    if (w.call != kNone) last[recording.events[w.event].lane] = kBeforeRecording;
  int64_t done = INT64_MAX;
  std::vector<int64_t> times;
  times.reserve(work.size());
  for (const Work& w : work) {
    const Event& event = recording.events[w.event];
    const bool after_idle = event.start_ns > done && event.start_ns - done > kLongIdleNs;
    done = done == INT64_MAX ? event.end_ns() : std::max(done, event.end_ns());
    const auto known = last.find(event.lane);
    if (known == last.end()) {
      times.push_back(event.start_ns);
      continue;
    }
    if (w.call != kNone)
      known->second = std::max(known->second, recording.events[w.call].start_ns);
    else if (after_idle)
      known->second = event.start_ns;
    times.push_back(known->second);
  }
  return times;
}

uint32_t innermost_op(const Recording& recording, const std::vector<uint32_t>& around, uint32_t event) {
  uint32_t at = around[event];
  while (at != kNone && recording.events[at].kind != EventKind::host_op) at = around[at];
  return at;
}

}  // namespace

std::vector<uint32_t> innermost_around(const Recording& recording) {
  const std::vector<Event>& events = recording.events;
  std::vector<uint32_t> around(events.size(), kNone);
  std::vector<std::vector<uint32_t>> open(recording.lanes.size());
  for (uint32_t i = 0; i < events.size(); ++i) {
    if (!is_on_host(recording, events[i])) continue;
    std::vector<uint32_t>& stack = open[events[i].lane];
    while (!stack.empty() && has_ended(events[stack.back()], events[i])) stack.pop_back();
    if (!stack.empty()) around[i] = stack.back();
    if (events[i].kind == EventKind::host_op || events[i].kind == EventKind::range) stack.push_back(i);
  }
  return around;
}

DeviceWork busiest_device(const Recording& recording, const std::vector<uint32_t>& around) {
  DeviceWork found{.device = find_busiest(recording), .work = {}, .launch = {}};
  const std::vector<Event>& events = recording.events;
  const auto counts = [&](const Event& event) {
    return is_on_device(event.kind) && event.lane < recording.lanes.size() &&
           recording.lanes[event.lane].device == found.device;
  };
  found.work.reserve(static_cast<size_t>(std::ranges::count_if(events, counts)));
  const Calls calls(recording);
  KernelKinds kinds(recording);
  for (uint32_t i = 0; i < events.size(); ++i) {
    if (!counts(events[i])) continue;
    const uint32_t call = calls.starter_of(i);
    found.work.push_back({i, call, call == kNone ? kNone : innermost_op(recording, around, call), kinds.of(events[i])});
  }
  found.launch = launch_times(recording, found.work);
  return found;
}

}  // namespace rung::trace
