// Copies and fills share one list; their names distinguish them.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/rocprof_events.hpp"

#include "trace/recording/amd_names.hpp"
#include "trace/recording/copy_name.hpp"

namespace rung::trace {
namespace {

// Removes quotes that some versions keep from the list that they read.
std::string_view unquoted(std::string_view name) {
  return name.size() >= 2 && name.starts_with('"') && name.ends_with('"') ? name.substr(1, name.size() - 2) : name;
}

}  // namespace

uint16_t RocprofEvents::lane_of(const Place& place) {
  return builder_.device_lane(place.device.value_or(0), place.stream ? *place.stream : place.queue.value_or(0));
}

bool RocprofEvents::add(Event event, const Times& times, std::string_view name) {
  if (!builder_.set_times(event, times.begin_ns, times.end_ns)) return false;
  event.name = builder_.text(kernel_name(name));
  const size_t before = builder_.size();
  builder_.add(event);
  return builder_.size() > before;
}

bool RocprofEvents::take_kernel(const Times& times, const Place& place, std::string_view name, uint32_t link) {
  name = unquoted(name);
  if (name == "<barrier packet>") return builder_.skip("barriers of queues"), false;
  return add({.link = link, .lane = lane_of(place), .kind = EventKind::kernel}, times, name);
}

bool RocprofEvents::take_copy(const Times& times, const Place& place, std::string_view name, uint32_t link) {
  name = unquoted(name);
  const bool fill = name.find("Fill") != name.npos;
  Event event{.link = link, .lane = lane_of(place), .kind = fill ? EventKind::fill : EventKind::copy};
  if (!fill) event.detail = builder_.copy(copy_shape(name, -1));
  return add(event, times, name);
}

bool RocprofEvents::take_call(const Times& times, const Thread& thread, std::string_view name, uint32_t link) {
  name = unquoted(name);
  if (name.starts_with("__hip")) return builder_.skip("calls around a launch, which the compiler writes"), false;
  return add({.link = link, .lane = builder_.host_lane(thread.process, thread.thread), .kind = EventKind::runtime_call},
             times, name);
}

bool RocprofEvents::take_range(const Times& times, const Thread& thread, std::string_view name) {
  if (times.begin_ns && times.begin_ns == times.end_ns) return builder_.skip("instants"), false;
  return add({.lane = builder_.host_lane(thread.process, thread.thread), .kind = EventKind::range}, times,
             unquoted(name));
}

}  // namespace rung::trace
