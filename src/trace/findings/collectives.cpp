// Finds collectives by category; reads groups and messages from record_param_comms and enclosing operations.
// SPDX-License-Identifier: Apache-2.0
#include "trace/findings/collectives.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

namespace rung::trace {
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

const Event& event_of(const Analysis& analysis, const Collective& collective) {
  return analysis.event(analysis.work[collective.work]);
}

Span span_of(const Analysis& analysis, const Collective& collective, Part part) {
  const Event& event = event_of(analysis, collective);
  const int64_t complete_ns = event.start_ns + collective.wait_ns;  // the last rank has arrived
  return {part == Part::transfer ? complete_ns : event.start_ns, part == Part::wait ? complete_ns : event.end_ns()};
}

std::vector<Span> spans_of(const Analysis& analysis, const std::vector<Collective>& collectives, Part part) {
  std::vector<Span> spans;
  for (const Collective& collective : collectives) spans.push_back(span_of(analysis, collective, part));
  return union_of(std::move(spans));
}

// A generous time for a message over PCI Express: links between GPUs of one machine are no slower.
constexpr double kSlowestLatencyNs = 60e3, kSlowestBytesPerNs = 10;

int64_t longest_transfer_ns(int64_t message_bytes) {
  return static_cast<int64_t>(kSlowestLatencyNs + static_cast<double>(message_bytes) / kSlowestBytesPerNs);
}

// Sets waits by the quickest run of a kernel, message and group, which may be in another step.
void tell_waits(const Analysis& analysis, const std::vector<Collective>& all, std::vector<Collective>& collectives) {
  std::map<std::tuple<uint32_t, int64_t, uint32_t>, int64_t> quickest_ns;  // by kernel, message and group
  const auto quickest = [&](const Analysis& of, const Collective& c) -> int64_t& {
    const Event& event = event_of(of, c);
    return quickest_ns.try_emplace({event.name, c.message_bytes, c.ranks}, event.duration_ns).first->second;
  };
  for (const Collective& c : all) {
    int64_t& ns = quickest(analysis.whole(), c);
    ns = std::min(ns, event_of(analysis.whole(), c).duration_ns);
  }
  for (Collective& c : collectives) {
    if (c.message_bytes < 0) continue;
    const int64_t transfer_ns = std::min(quickest(analysis, c), longest_transfer_ns(c.message_bytes));
    c.wait_ns = event_of(analysis, c).duration_ns - transfer_ns;
  }
}

std::vector<Collective> without_waits(const Analysis& analysis) {
  const Recording& recording = analysis.recording;
  std::vector<Collective> found;
  for (uint32_t i = 0; i < analysis.work.size(); ++i) {
    const Work& work = analysis.work[i];
    if (work.kind.category != KernelCategory::collective) continue;
    Collective collective{.work = i};
    if (work.call != kNone)
      for (const uint32_t around : enclosing(analysis, work.call))
        note(recording, recording.events[around], collective);
    found.push_back(collective);
  }
  return found;
}

}  // namespace

std::vector<Collective> collectives_of(const Analysis& analysis) {
  std::vector<Collective> found = without_waits(analysis);
  tell_waits(analysis, analysis.all ? without_waits(*analysis.all) : found, found);
  return found;
}

bool is_small(const Analysis& analysis, const Collective& collective) {
  if (collective.message_bytes >= 0) return collective.message_bytes <= kMostSmallBytes;
  return event_of(analysis, collective).duration_ns <= kMostSmallNs;
}

Tally tally_of(const Analysis& analysis, const std::vector<Collective>& collectives, Part part) {
  Tally tally;
  for (const Collective& collective : collectives)
    tally.add(analysis.name(analysis.work[collective.work]), span_of(analysis, collective, part).length_ns());
  return tally;
}

int64_t exposed_ns(const Analysis& analysis, const std::vector<Collective>& collectives, Part part) {
  std::vector<Span> others;
  size_t next = 0;  // both are sorted by start
  for (uint32_t i = 0; i < analysis.work.size(); ++i) {
    if (next < collectives.size() && collectives[next].work == i) {
      ++next;
      continue;
    }
    const Event& event = analysis.event(analysis.work[i]);
    others.push_back({event.start_ns, event.end_ns()});
  }
  const std::vector<Span> own = spans_of(analysis, collectives, part);
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

}  // namespace rung::trace
