// An event's own fields take precedence over its track's name: "COMPUTE AGENT [4] QUEUE [0] (GPU)", "STREAM [ 1 ]",
// "GPU Kernel Dispatch [0] Queue 1", "HIP Activity Stream 1", "THREAD 1 (4712)".
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/perfetto_lanes.hpp"

#include <algorithm>
#include <cctype>

#include "trace/recording/copy_name.hpp"

namespace rung::trace {
namespace {

constexpr int64_t kMostDevices = 1024;

// Returns 4 for 4, "Agent-4" and "GPU 4".
int64_t number_of(const PerfettoEvent::Value& value) {
  if (value.number) return *value.number;
  const auto numbers = numbers_in(value.text);
  return numbers.empty() ? -1 : numbers.back();
}

bool names_streams(std::string_view name) {
  return name.starts_with("STREAM") || name.starts_with("HIP Activity Stream");
}

}  // namespace

size_t PerfettoLanes::Hash::operator()(const Key& key) const {
  uint64_t seed = key.track;
  for (const int64_t value : {key.device, key.stream, key.thread, int64_t{key.on_device}, int64_t{key.copy}})
    seed = (seed ^ static_cast<uint64_t>(value)) * 0x9e3779b97f4a7c15;
  return seed ^ (seed >> 29);
}

uint16_t PerfettoLanes::lane_of(const Key& key) {
  if (const auto known = lanes_.find(key); known != lanes_.end()) return known->second;
  const auto number = static_cast<int64_t>(lanes_.size());  // a lane of its own, whatever its later name
  const uint16_t lane = key.on_device ? builder_.device_lane(0, number) : builder_.host_lane(0, number);
  if (lane != kNoLane) lanes_[key] = lane;
  return lane;
}

uint16_t PerfettoLanes::host(const PerfettoEvent& event) {
  return lane_of({.track = event.track, .thread = event.number(Annotation::thread).value_or(-1)});
}

uint16_t PerfettoLanes::device(const PerfettoEvent& event, bool copy) {
  Key key{.track = event.track, .on_device = true, .copy = copy};
  if (copy) {
    // The end that is a GPU; for a copy to the host it is the source.
    const bool to_host = copy_shape(builder_.recording().strings[event.name], -1).device_to_host;
    key.device = number_of(event[to_host ? Annotation::source : Annotation::destination]);
  } else {
    key.device = number_of(event[Annotation::agent]);
  }
  if (key.device < 0) key.device = number_of(event[Annotation::device]);
  key.stream = event.number(Annotation::stream).value_or(event.number(Annotation::queue).value_or(-1));
  return lane_of(key);
}

void PerfettoLanes::name_host(const Key& key, const PerfettoTracks& tracks, Lane& lane) const {
  PerfettoTracks::Owner owner = tracks.owner_of(key.track);
  const auto numbers = numbers_in(owner.name);
  lane.process = owner.process.value_or(0);
  lane.thread = key.thread >= 0
                    ? key.thread
                    : owner.thread.value_or(numbers.empty() ? static_cast<int64_t>(key.track >> 1) : numbers.back());
  lane.name = std::move(owner.name);
}

void PerfettoLanes::name_device(const Key& key, const PerfettoTracks& tracks, Lane& lane) const {
  lane.name = tracks.owner_of(key.track).name;
  const auto numbers = numbers_in(lane.name);
  int64_t device = key.device;
  if (device < 0 && !numbers.empty() && !names_streams(lane.name)) device = numbers.front();
  lane.device = device >= 0 && device < kMostDevices ? static_cast<int>(device) : 0;
  lane.thread = key.stream >= 0 ? key.stream : numbers.empty() ? -1 : numbers.back();
}

void PerfettoLanes::number_copies(const std::vector<Key>& keys) {
  auto& lanes = builder_.lanes();
  std::vector<int> agents;
  for (size_t i = 0; i < lanes.size(); ++i)
    if (keys[i].copy) agents.push_back(lanes[i].device);
  std::sort(agents.begin(), agents.end());
  agents.erase(std::unique(agents.begin(), agents.end()), agents.end());
  for (size_t i = 0; i < lanes.size(); ++i)
    if (keys[i].copy)
      lanes[i].device =
          static_cast<int>(std::lower_bound(agents.begin(), agents.end(), lanes[i].device) - agents.begin());
}

void PerfettoLanes::finish(const PerfettoTracks& tracks, PerfettoTool tool) {
  auto& lanes = builder_.lanes();
  std::vector<Key> keys(lanes.size());
  for (const auto& [key, number] : lanes_) {
    keys[number] = key;
    if (key.on_device)
      name_device(key, tracks, lanes[number]);
    else
      name_host(key, tracks, lanes[number]);
  }
  if (tool == PerfettoTool::rocprof_sys) number_copies(keys);
}

}  // namespace rung::trace
