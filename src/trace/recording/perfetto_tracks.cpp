// Follows a chain of tracks for only a few steps, so that a cycle ends.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/perfetto_tracks.hpp"

#include <algorithm>
#include <charconv>

#include "trace/recording/perfetto_fields.hpp"
#include "trace/recording/recording_builder.hpp"

namespace rung::trace {
namespace {

constexpr size_t kMostTracks = 200'000;
constexpr int kMostAncestors = 16;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

void take_name(std::string_view name, PerfettoTracks::Owner& owner) {
  if (owner.name.empty()) owner.name = RecordingBuilder::short_name(name);
}

void take_thread(std::string_view message, PerfettoTracks::Owner& owner) {
  each_field(message, [&](protozero::pbf_reader& field) {
    switch (field.tag_and_type()) {
      case varint(kThreadProcess):
        return void(owner.process = field.get_int64());
      case varint(kThreadId):
        return void(owner.thread = field.get_int64());
      case bytes(kThreadName):
        return take_name(view_of(field.get_view()), owner);
      default:
        field.skip();
    }
  });
}

void take_process(std::string_view message, PerfettoTracks::Owner& owner) {
  each_field(message, [&](protozero::pbf_reader& field) {
    if (field.tag_and_type() == varint(kProcessId))
      owner.process = field.get_int64();
    else
      field.skip();
  });
}

}  // namespace

PerfettoTracks::Track PerfettoTracks::track_of(std::string_view message, uint64_t& uuid) {
  Track track;
  each_field(message, [&](protozero::pbf_reader& field) {
    switch (field.tag_and_type()) {
      case varint(kTrackUuid):
        return void(uuid = field.get_uint64());
      case varint(kTrackParent):
        return void(track.parent = field.get_uint64());
      case bytes(kTrackName):
      case bytes(kTrackStaticName):
        return take_name(view_of(field.get_view()), track.owner);
      case bytes(kTrackThread):
        return take_thread(view_of(field.get_view()), track.owner);
      case bytes(kTrackProcess):
        return take_process(view_of(field.get_view()), track.owner);
      default:
        field.skip();
    }
  });
  return track;
}

bool PerfettoTracks::take(std::string_view message) {
  uint64_t uuid = 0;
  Track track = track_of(message, uuid);
  if (tracks_.size() == kMostTracks && !tracks_.contains(uuid)) return false;
  tracks_[uuid] = std::move(track);
  return true;
}

PerfettoTracks::Owner PerfettoTracks::owner_of(uint64_t uuid) const {
  Owner owner;
  auto known = tracks_.find(uuid);
  if (known != tracks_.end()) owner.name = known->second.owner.name;
  for (int i = 0; i < kMostAncestors && known != tracks_.end(); ++i) {
    const Track& track = known->second;
    if (!owner.process) owner.process = track.owner.process;
    if (!owner.thread) owner.thread = track.owner.thread;
    if (!track.parent) break;
    known = tracks_.find(*track.parent);
  }
  return owner;
}

std::vector<int64_t> numbers_in(std::string_view text) {
  std::vector<int64_t> numbers;
  for (size_t i = 0; i < text.size();) {
    if (!is_digit(text[i])) {
      ++i;
      continue;
    }
    int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data() + i, text.data() + text.size(), number);
    if (error == std::errc()) numbers.push_back(number);
    i = static_cast<size_t>(end - text.data());
  }
  return numbers;
}

}  // namespace rung::trace
