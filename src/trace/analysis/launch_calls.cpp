// A launch is lost if the recording links calls to work, and has none for this launch.
// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/launch_calls.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace rung::trace {
namespace {

bool has(std::string_view name, std::string_view part) { return name.find(part) != std::string_view::npos; }

enum class Role : uint8_t { other, kernel, graph, begins_capture, ends_capture };

Role role_of(std::string_view call) {
  if (launches_graph(call)) return Role::graph;
  if (launches_kernel(call)) return Role::kernel;
  if (has(call, "StreamBeginCapture")) return Role::begins_capture;
  return has(call, "StreamEndCapture") ? Role::ends_capture : Role::other;
}

class LaunchCounter {
 public:
  LaunchCounter(const Recording& recording, const Steps& steps, const DeviceWork& device)
      : recording_(recording), steps_(steps), lanes_(recording.lanes.size()) {
    for (const Event& event : recording.events)
      if (is_on_device(event.kind) && event.link != 0) worked_.insert(event.link);
    for (const Work& work : device.work)
      if (work.call == kNone) unlinked_ns_ = std::max(unlinked_ns_, recording.events[work.event].start_ns);
  }

  Launches count() {
    for (const Event& event : recording_.events) {
      if (event.kind != EventKind::runtime_call || event.lane >= lanes_.size()) continue;
      const auto [role, fresh] = roles_.try_emplace(event.name);
      if (fresh) role->second = role_of(recording_.name_of(event));
      if (role->second != Role::other) take(event, role->second);
    }
    for (OfLane& lane : lanes_) close(lane);
    std::ranges::sort(counted_.lost_ns);
    return std::move(counted_);
  }

 private:
  // Nested calls count once, if any has work: a runtime's call makes a driver's call.
  struct OfLane {
    bool captures = false;
    bool is_open = false, is_graph = false, has_work = false;
    Event outer;
  };

  void take(const Event& event, Role role) {
    OfLane& lane = lanes_[event.lane];
    if (role == Role::begins_capture || role == Role::ends_capture) {
      close(lane);
      lane.captures = role == Role::begins_capture;
      return;
    }
    if (lane.is_open && event.start_ns < lane.outer.end_ns()) {
      lane.has_work |= worked_.contains(event.link);
      return;
    }
    close(lane);
    lane = {lane.captures, true, role == Role::graph, worked_.contains(event.link), event};
  }

  void close(OfLane& lane) {
    if (!std::exchange(lane.is_open, false) || !is_in_step(lane.outer.start_ns)) return;
    if (lane.captures && !lane.has_work) {
      ++counted_.captured;
      return;
    }
    ++counted_.all;
    counted_.all_graphs += lane.is_graph;
    // Unlinked work that starts later may be this call's.
    if (lane.has_work || lane.outer.link == 0 || unlinked_ns_ >= lane.outer.start_ns) return;
    ++counted_.lost;
    counted_.lost_graphs += lane.is_graph;
    counted_.lost_ns.push_back(lane.outer.start_ns);
  }

  bool is_in_step(int64_t ns) const {
    if (steps_.host.empty()) return true;
    const auto after = std::ranges::upper_bound(steps_.host, ns, {}, &Span::start_ns);
    return after != steps_.host.begin() && ns < std::prev(after)->end_ns;
  }

  const Recording& recording_;
  const Steps& steps_;
  std::unordered_set<uint32_t> worked_;       // links of work on all devices
  int64_t unlinked_ns_ = INT64_MIN;           // the last start of work without a call
  std::unordered_map<uint32_t, Role> roles_;  // by the name's number
  std::vector<OfLane> lanes_;
  Launches counted_;
};

}  // namespace

bool launches_graph(std::string_view call) { return has(call, "GraphLaunch"); }

bool launches_kernel(std::string_view call) {
  return has(call, "LaunchKernel") || has(call, "LaunchCooperativeKernel") || call == "cudaLaunch" ||
         has(call, "LaunchMultiKernel");
}

Launches count_launches(const Recording& recording, const Steps& steps, const DeviceWork& device) {
  return LaunchCounter(recording, steps, device).count();
}

}  // namespace rung::trace
