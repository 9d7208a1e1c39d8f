// Sorts holds by cause; decides which of them wait for the device and which are inside a step.
// SPDX-License-Identifier: Apache-2.0
#include "trace/findings/held_host.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "trace/analysis/host_time.hpp"
#include "trace/findings/evidence.hpp"

namespace rung::trace {

HeldHost::HeldHost(const Analysis& analysis) : analysis_(analysis) {
  launching_.resize(analysis.recording.lanes.size());
  note_launches();
  note_holds();
}

void HeldHost::note_launches() {
  for (uint32_t i = 0; i < analysis_.work.size(); ++i) {
    const uint32_t call = analysis_.work[i].call;
    if (call == kNone) continue;
    const Event& event = analysis_.recording.events[call];
    work_by_call_.try_emplace(call, i);
    launching_[event.lane] = true;
    launches_.push_back({event.start_ns, step_at(analysis_, analysis_.event(analysis_.work[i]).start_ns)});
  }
  std::ranges::stable_sort(launches_, {}, &Launch::start_ns);
}

void HeldHost::note_holds() {
  const std::vector<std::vector<HostTime>> lanes = host_times(analysis_.recording, analysis_.work);
  for (size_t lane = 0; lane < lanes.size(); ++lane) {
    if (!launches(static_cast<uint16_t>(lane))) continue;
    for (const HostTime& time : lanes[lane]) {
      if (!is_host_at_step(analysis_, time.span.start_ns)) continue;
      by_cause_[static_cast<size_t>(time.cause)].push_back(time.event);
      causes_.emplace(time.event, time.cause);
    }
  }
  for (std::vector<uint32_t>& events : by_cause_) std::ranges::sort(events);  // events are sorted by start
}

uint32_t HeldHost::work_of(uint32_t call) const {
  const auto known = work_by_call_.find(call);
  return known == work_by_call_.end() ? kNone : known->second;
}

bool HeldHost::waits(uint32_t call) const {
  const auto known = causes_.find(call);
  if (known == causes_.end()) return false;
  const std::string_view name = analysis_.recording.name_of(analysis_.recording.events[call]);
  const bool frees = name.find("Free") != std::string_view::npos && name.find("Async") == std::string_view::npos;
  return known->second == GapCause::synchronization || known->second == GapCause::copy ||
         (known->second == GapCause::allocation && frees);
}

bool HeldHost::is_inside_step(uint32_t event) const {
  const int64_t start = analysis_.recording.events[event].start_ns;
  const auto next = std::ranges::upper_bound(launches_, start, {}, &Launch::start_ns);
  if (next == launches_.begin() || next == launches_.end()) return false;
  return next->step && next->step == std::prev(next)->step;
}

std::string_view purpose_of(const Analysis& analysis, uint32_t call) {
  const Recording& recording = analysis.recording;
  std::string_view purpose = recording.name_of(recording.events[call]);
  for (const uint32_t around : enclosing(analysis, call)) {
    const Event& event = recording.events[around];
    if (event.kind == EventKind::host_op && recording.name_of(event).starts_with("aten::"))
      purpose = recording.name_of(event);
  }
  return purpose;
}

std::string call_in_words(const Analysis& analysis, uint32_t call) {
  const std::string_view purpose = purpose_of(analysis, call);
  const std::string_view name = analysis.recording.name_of(analysis.recording.events[call]);
  return purpose == name ? std::string(name) : fmt::format("{} > {}", purpose, name);
}

}  // namespace rung::trace
