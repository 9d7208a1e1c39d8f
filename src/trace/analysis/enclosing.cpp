// Finds the events that enclose an event of a host thread.
// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/analysis.hpp"

namespace rung::trace {

std::vector<uint32_t> enclosing(const Analysis& analysis, uint32_t event) {
  std::vector<uint32_t> found;
  const std::vector<uint32_t>& around = analysis.whole().around;
  if (event >= around.size()) return found;
  for (uint32_t at = around[event]; at != kNone; at = around[at]) found.push_back(at);
  return found;
}

std::vector<uint32_t> enclosing(const Recording& recording, uint32_t event) {
  std::vector<uint32_t> found;
  if (event >= recording.events.size() || is_on_device(recording.events[event].kind)) return found;
  const Event& inner = recording.events[event];
  for (uint32_t i = event; i-- > 0;) {
    const Event& outer = recording.events[i];
    const bool names = outer.kind == EventKind::host_op || outer.kind == EventKind::range;
    if (names && outer.lane == inner.lane && outer.end_ns() > inner.start_ns) found.push_back(i);
  }
  return found;
}

}  // namespace rung::trace
