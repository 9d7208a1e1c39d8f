// Recognises calls by name, and asynchronous copies by the memory that they read or write.
// SPDX-License-Identifier: Apache-2.0
#include "trace/findings/capture_breaks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "trace/analysis/launch_calls.hpp"
#include "trace/findings/derived.hpp"
#include "trace/findings/evidence.hpp"

namespace rung::trace {
namespace {

bool has_part(std::string_view name, std::span<const std::string_view> parts) {
  return std::ranges::any_of(parts, [&](std::string_view part) { return name.find(part) != name.npos; });
}

bool breaks_a_capture(std::string_view call) {
  static constexpr std::array<std::string_view, 5> kAlways{"Synchronize", "StreamQuery", "EventQuery",
                                                           "hsa_signal_wait", "ModuleLoad"};
  static constexpr std::array<std::string_view, 9> kWithoutAsync{
      "Malloc", "hipFree", "cudaFree", "MemAlloc", "MemFree", "HostAlloc", "FreeHost", "HostRegister", "Memcpy"};
  if (has_part(call, kAlways)) return true;
  return call.find("Async") == call.npos && has_part(call, kWithoutAsync);
}

class BreakFinder {
 public:
  explicit BreakFinder(const Analysis& analysis) : analysis_(analysis), host_(held_host(analysis).held) {
    for (const Work& work : analysis.work) {
      if (work.call == kNone) continue;
      const Event& call = analysis.recording.events[work.call];
      launches_kernels_ |= !launches_graph(analysis.recording.name_of(call));
      launches_.push_back(call.start_ns);
      if (is_pageable(analysis.event(work))) pageable_.insert(work.call);
    }
    std::ranges::sort(launches_);
  }

  std::vector<CaptureBreak> find() {
    if (!launches_kernels_) return {};
    const std::vector<Event>& events = analysis_.recording.events;
    for (uint32_t i = 0; i < events.size(); ++i)
      if (events[i].kind == EventKind::runtime_call && host_.launches(events[i].lane) && breaks(i) &&
          is_host_at_step(analysis_, events[i].start_ns))
        add(i);
    std::vector<CaptureBreak> all;
    for (auto& [key, found] : found_) all.push_back(std::move(found));
    std::ranges::stable_sort(all, [](const CaptureBreak& a, const CaptureBreak& b) {
      return std::tuple(!a.is_between_launches, -a.ms) < std::tuple(!b.is_between_launches, -b.ms);
    });
    return all;
  }

 private:
  bool is_pageable(const Event& work) const {
    if (work.kind != EventKind::copy || work.detail >= analysis_.recording.copies.size()) return false;
    const CopyShape& shape = analysis_.recording.copies[work.detail];
    return shape.from == MemoryKind::pageable || shape.to == MemoryKind::pageable;
  }

  bool breaks(uint32_t call) {
    const Event& event = analysis_.recording.events[call];
    const auto [known, fresh] = names_.try_emplace(event.name);
    if (fresh) known->second = breaks_a_capture(analysis_.recording.name_of(event));
    return known->second || pageable_.contains(call);
  }

  void add(uint32_t at) {
    const Event& event = analysis_.recording.events[at];
    const std::string_view name = analysis_.recording.name_of(event);
    const auto next = std::ranges::upper_bound(launches_, event.start_ns);
    const bool is_between = next != launches_.begin() && next != launches_.end();
    std::string call = pageable_.contains(at) ? fmt::format("{} (pageable memory)", name) : std::string(name);
    std::string place = is_between                  ? "between launches"
                        : next == launches_.begin() ? "before the first launch"
                                                    : "after the last launch";
    if (const std::string_view purpose = purpose_of(analysis_, at); purpose != name)
      place = fmt::format("in {}, {}", purpose, place);
    CaptureBreak& found = found_[{call, place}];
    found.call = std::move(call);
    found.place = std::move(place);
    found.is_between_launches = is_between;
    ++found.count;
    found.ms += ms_of(event.duration_ns);
  }

  const Analysis& analysis_;
  const HeldHost& host_;
  bool launches_kernels_ = false;
  std::vector<int64_t> launches_;          // starts of calls
  std::unordered_set<uint32_t> pageable_;  // calls of copies
  std::unordered_map<uint32_t, bool> names_;
  std::map<std::pair<std::string, std::string>, CaptureBreak> found_;
};

}  // namespace

std::vector<CaptureBreak> capture_breaks(const Analysis& analysis) { return BreakFinder(analysis).find(); }

}  // namespace rung::trace
