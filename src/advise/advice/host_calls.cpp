// Calls by role; what waits; what is inside a step.
// SPDX-License-Identifier: Apache-2.0
#include "advise/advice/host_calls.hpp"

#include <algorithm>

#include "advise/advice/evidence.hpp"

namespace rung::advise {
namespace {

struct KnownCall {
  CallRole role;
  std::string_view name;
};
constexpr KnownCall kCalls[] = {
#define RUNG_CALL(role, name) {CallRole::role, name},
#include "advise/advice/host_calls.inc"
#undef RUNG_CALL
};

}  // namespace

CallRole role_of_call(std::string_view name) {
  for (const KnownCall& call : kCalls) {
    if (!name.starts_with(call.name)) continue;
    if (name.size() == call.name.size() || name[call.name.size()] == '_') return call.role;
  }
  return CallRole::other;
}

HostCalls::HostCalls(const Analysis& analysis) : analysis_(analysis) {
  launching_.resize(analysis.recording.lanes.size());
  note_launches();
  note_calls();
}

void HostCalls::note_launches() {
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

void HostCalls::note_calls() {
  const Recording& recording = analysis_.recording;
  std::vector<uint8_t> roles(recording.strings.size(), UINT8_MAX);  // by name: looked up once each
  for (uint32_t i = 0; i < recording.events.size(); ++i) {
    const Event& event = recording.events[i];
    if (event.kind != EventKind::runtime_call || !launches(event.lane)) continue;
    if (event.start_ns < analysis_.accounting.wall.start_ns || event.start_ns >= analysis_.accounting.wall.end_ns)
      continue;
    uint8_t& role = roles[event.name];
    if (role == UINT8_MAX) role = static_cast<uint8_t>(role_of_call(recording.name_of(event)));
    by_role_[role].push_back(i);
  }
}

uint32_t HostCalls::work_of(uint32_t call) const {
  const auto known = work_by_call_.find(call);
  return known == work_by_call_.end() ? kNone : known->second;
}

bool HostCalls::waits(uint32_t call) const {
  const Event& event = analysis_.recording.events[call];
  const CallRole role = role_of_call(analysis_.recording.name_of(event));
  if (role != CallRole::copy) return role == CallRole::synchronize;
  const uint32_t work = work_of(call);
  return work != kNone && analysis_.event(analysis_.work[work]).end_ns() <= event.end_ns();
}

bool HostCalls::is_inside_step(uint32_t call) const {
  const int64_t start = analysis_.recording.events[call].start_ns;
  const auto next = std::ranges::upper_bound(launches_, start, {}, &Launch::start_ns);
  if (next == launches_.begin() || next == launches_.end()) return false;
  return next->step && next->step == std::prev(next)->step;
}

std::string_view purpose_of(const Analysis& analysis, uint32_t call) {
  const Recording& recording = analysis.recording;
  std::string_view purpose = recording.name_of(recording.events[call]);
  for (const uint32_t around : enclosing(recording, call)) {
    const Event& event = recording.events[around];
    if (event.kind == EventKind::host_op && recording.name_of(event).starts_with("aten::"))
      purpose = recording.name_of(event);
  }
  return purpose;
}

}  // namespace rung::advise
