// Finds or adds an event's texts, details, links and lanes in the tables of the merged recording.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/merge.hpp"

#include <map>
#include <unordered_map>
#include <vector>

namespace rung::trace {
namespace {

// Returns the number itself, or the smallest free one if it is taken.
int64_t free_number(const std::set<int64_t>& taken, int64_t number) {
  if (!taken.contains(number)) return number;
  int64_t next = 0;
  for (const int64_t one : taken)
    if (one == next) ++next;
  return next;
}

}  // namespace

class RecordingMerger::One {
 public:
  One(RecordingMerger& whole, const Recording& from) : whole_(whole), builder_(whole.builder_), from_(from) {
    for (const Lane& lane : from.lanes) lanes_.push_back(lane_of(lane));
    for (const auto& [own, number] : devices_)
      if (static_cast<size_t>(own) < from.device_names.size() && !from.device_names[static_cast<size_t>(own)].empty())
        builder_.name_device(static_cast<size_t>(number), from.device_names[static_cast<size_t>(own)]);
  }

  void add_events() {
    for (Event event : from_.events) {
      event.name = builder_.text(from_.name_of(event));
      event.detail = detail_of(event);
      event.link = link_of(event.link);
      event.lane = event.lane < lanes_.size() ? lanes_[event.lane] : kNoLane;
      builder_.add(event);
    }
    for (const auto& [reason, events] : from_.skipped) builder_.skip(reason, events);
  }

 private:
  using Numbers = std::map<int64_t, int64_t>;
  static int64_t number_of(Numbers& numbers, std::set<int64_t>& taken, int64_t own) {
    const auto known = numbers.find(own);
    if (known != numbers.end()) return known->second;
    const int64_t number = free_number(taken, own);
    taken.insert(number);
    return numbers[own] = number;
  }

  uint16_t lane_of(const Lane& lane) {
    const uint16_t made = lane.on_device
                              ? builder_.device_lane(number_of(devices_, whole_.devices_, lane.device), lane.thread)
                              : builder_.host_lane(number_of(processes_, whole_.processes_, lane.process), lane.thread);
    if (made != kNoLane && !lane.name.empty()) builder_.lane(made).name = lane.name;
    return made;
  }

  uint32_t link_of(uint32_t own) {
    if (own == 0) return 0;
    const auto [known, fresh] = links_.try_emplace(own, whole_.links_ + 1);
    if (fresh) ++whole_.links_;
    return known->second;
  }

  uint32_t text(uint32_t number) { return builder_.text(from_.strings[number]); }

  uint32_t detail_of(const Event& event) {
    switch (event.kind) {
      case EventKind::kernel:
        return builder_.launch(from_.launches[event.detail]);
      case EventKind::copy:
        return builder_.copy(from_.copies[event.detail]);
      case EventKind::host_op: {
        OperandTexts texts = from_.operands[event.detail];
        for (uint32_t* number : {&texts.shapes, &texts.strides, &texts.types, &texts.values}) *number = text(*number);
        return builder_.operands(texts);
      }
      default:
        return 0;
    }
  }

  RecordingMerger& whole_;
  RecordingBuilder& builder_;
  const Recording& from_;
  std::vector<uint16_t> lanes_;
  Numbers devices_, processes_;
  std::unordered_map<uint32_t, uint32_t> links_;
};

void RecordingMerger::add(const Recording& recording) { One(*this, recording).add_events(); }

}  // namespace rung::trace
