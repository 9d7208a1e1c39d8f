// The outer call is the last one that began before on the same thread, if it has not ended yet.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/outer_calls.hpp"

#include <algorithm>
#include <tuple>

namespace rung::trace {
namespace {

bool begins_before(const Event& a, const Event& b) {
  return std::tuple(a.lane, a.start_ns) < std::tuple(b.lane, b.start_ns);
}

void put_in_order(std::vector<uint32_t>& numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

}  // namespace

OuterCalls::OuterCalls(const RecordingBuilder& builder, size_t first) : first_(first) {
  const auto& events = builder.recording().events;
  std::vector<uint32_t> known, wanted;
  for (size_t i = first; i < events.size(); ++i) {
    if (events[i].kind == EventKind::runtime_call) {
      calls_.push_back(events[i]);
      known.push_back(events[i].link);
    } else if (is_on_device(events[i].kind) && events[i].link != 0) {
      wanted.push_back(events[i].link);
    }
  }
  std::sort(calls_.begin(), calls_.end(), begins_before);
  put_in_order(known);
  put_in_order(wanted);
  std::set_difference(wanted.begin(), wanted.end(), known.begin(), known.end(), std::back_inserter(orphans_));
}

uint32_t OuterCalls::outer_link(const Event& inner) const {
  const auto after = std::upper_bound(calls_.begin(), calls_.end(), inner, begins_before);
  if (after == calls_.begin()) return 0;
  const Event& outer = *(after - 1);
  return outer.lane == inner.lane && outer.end_ns() >= inner.end_ns() ? outer.link : 0;
}

void OuterCalls::take(const Event& inner) {
  if (!std::binary_search(orphans_.begin(), orphans_.end(), inner.link)) return;
  if (const uint32_t outer = outer_link(inner)) found_.emplace_back(inner.link, outer);
}

void OuterCalls::link(RecordingBuilder& builder) const {
  auto found = found_;
  std::sort(found.begin(), found.end());
  auto& events = builder.events();
  for (size_t i = first_; i < events.size(); ++i) {
    if (!is_on_device(events[i].kind)) continue;
    const auto it = std::lower_bound(found.begin(), found.end(), std::pair(events[i].link, uint32_t{0}));
    if (it != found.end() && it->first == events[i].link) events[i].link = it->second;
  }
}

}  // namespace rung::trace
