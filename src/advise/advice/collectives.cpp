// Collectives by category; their groups and messages from record_param_comms and the operations around it.
// SPDX-License-Identifier: Apache-2.0
#include "advise/advice/collectives.hpp"

#include <algorithm>

#include "advise/advice/evidence.hpp"

namespace rung::advise {
namespace {

std::string_view device_name(const Analysis& analysis) {
  const auto device = static_cast<size_t>(analysis.accounting.device);
  const std::vector<std::string>& names = analysis.recording.device_names;
  return analysis.accounting.device >= 0 && device < names.size() ? std::string_view(names[device])
                                                                  : std::string_view();
}

void note(const Recording& recording, const Event& op, Collective& collective) {
  if (op.kind != EventKind::host_op) return;
  const OperandTexts& operands = recording.operands[op.detail];
  if (collective.ranks == 0) collective.ranks = operands.ranks;
  if (collective.message_bytes < 0) collective.message_bytes = operands.message_bytes;
}

std::vector<Span> spans_of(const Analysis& analysis, const std::vector<Collective>& collectives) {
  std::vector<Span> spans;
  for (const Collective& collective : collectives) {
    const Event& event = analysis.event(analysis.work[collective.work]);
    spans.push_back({event.start_ns, event.end_ns()});
  }
  return union_of(std::move(spans));
}

}  // namespace

std::vector<Collective> collectives_of(const Analysis& analysis) {
  const Recording& recording = analysis.recording;
  std::vector<Collective> found;
  for (uint32_t i = 0; i < analysis.work.size(); ++i) {
    const Work& work = analysis.work[i];
    if (work.kind.category != Category::collective) continue;
    Collective collective{.work = i};
    if (work.call != kNone)
      for (const uint32_t around : enclosing(analysis, work.call))
        note(recording, recording.events[around], collective);
    found.push_back(collective);
  }
  return found;
}

bool is_small(const Analysis& analysis, const Collective& collective) {
  if (collective.message_bytes >= 0) return collective.message_bytes <= kMostSmallBytes;
  return analysis.event(analysis.work[collective.work]).duration_ns <= kMostSmallNs;
}

int64_t exposed_ns(const Analysis& analysis, const std::vector<Collective>& collectives) {
  std::vector<Span> others;
  size_t next = 0;  // both are by start
  for (uint32_t i = 0; i < analysis.work.size(); ++i) {
    if (next < collectives.size() && collectives[next].work == i) {
      ++next;
      continue;
    }
    const Event& event = analysis.event(analysis.work[i]);
    others.push_back({event.start_ns, event.end_ns()});
  }
  const std::vector<Span> own = spans_of(analysis, collectives);
  return length_of(own) - length_of(intersection_of(own, union_of(std::move(others))));
}

bool is_fully_linked_amd(const Analysis& analysis) {
  const std::string_view name = device_name(analysis);
  return std::ranges::any_of(std::array{"MI300X", "MI325X", "MI350X", "MI355X"},
                             [&](const char* card) { return name.find(card) != std::string_view::npos; });
}

bool is_amd(const Analysis& analysis) {
  const std::string_view name = device_name(analysis);
  return name.find("AMD") != std::string_view::npos || name.find("Instinct") != std::string_view::npos;
}

}  // namespace rung::advise
