// At equal times an end precedes a begin: slices on a track may touch.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/perfetto_pairs.hpp"

#include <algorithm>
#include <tuple>

namespace rung::trace {

bool PerfettoPairs::begin(uint32_t sequence, uint64_t track, const Slice& slice) {
  if (open_count_ == kMostOpen) return false;
  open_[sequence][track].push_back(slice);
  ++open_count_;
  return true;
}

bool PerfettoPairs::end(uint32_t sequence, uint64_t track, int64_t end_ns, Slice& slice) {
  const auto tracks = open_.find(sequence);
  const auto stack = tracks == open_.end() ? Tracks::iterator() : tracks->second.find(track);
  if (tracks == open_.end() || stack == tracks->second.end()) {
    if (ends_.size() < kMostEnds)
      ends_.push_back({track, end_ns});
    else
      ++lost_ends_;
    return false;
  }
  slice = stack->second.back();
  slice.event.duration_ns = end_ns - slice.event.start_ns;
  stack->second.pop_back();
  --open_count_;
  if (stack->second.empty()) tracks->second.erase(stack);
  if (tracks->second.empty()) open_.erase(tracks);
  return true;
}

size_t PerfettoPairs::drop(uint32_t sequence) {
  const auto tracks = open_.find(sequence);
  if (tracks == open_.end()) return 0;
  size_t dropped = 0;
  for (const auto& [track, slices] : tracks->second) dropped += slices.size();
  open_.erase(tracks);
  open_count_ -= dropped;
  return dropped;
}

std::vector<PerfettoPairs::Half> PerfettoPairs::leftover() {
  std::vector<Half> halves;
  halves.reserve(open_count_ + ends_.size());
  for (const auto& [sequence, tracks] : open_)
    for (const auto& [track, slices] : tracks)
      for (const Slice& slice : slices) halves.push_back({track, slice.event.start_ns, false, slice});
  for (const End& end : ends_) halves.push_back({end.track, end.time_ns, true, {}});
  open_ = {};
  ends_ = {};
  std::sort(halves.begin(), halves.end(), [](const Half& a, const Half& b) {
    const auto key = [](const Half& half) {
      return std::tuple(half.track, half.time_ns, !half.ends, half.slice.event.name);
    };
    return key(a) < key(b);
  });
  return halves;
}

}  // namespace rung::trace
