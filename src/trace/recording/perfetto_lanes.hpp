// Lanes of a recording for the tracks of a Perfetto trace. A track's name may come after its events, so a lane gets its
// owner at the end.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "trace/recording/perfetto_event.hpp"
#include "trace/recording/perfetto_tracks.hpp"
#include "trace/recording/recording_builder.hpp"

namespace rung::trace {

class PerfettoLanes {
 public:
  explicit PerfettoLanes(RecordingBuilder& builder) : builder_(builder) {}

  uint16_t host(const PerfettoEvent& event);
  uint16_t device(const PerfettoEvent& event, bool copy);
  // Assigns owners. rocprof-sys numbers the GPUs of copies among the machine's agents, but those of kernels separately.
  void finish(const PerfettoTracks& tracks, PerfettoTool tool);

 private:
  struct Key {
    uint64_t track = 0;
    bool on_device = false, copy = false;
    int64_t device = -1;  // unknown, as are stream and thread
    int64_t stream = -1;
    int64_t thread = -1;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    size_t operator()(const Key& key) const;
  };
  uint16_t lane_of(const Key& key);
  void name_host(const Key& key, const PerfettoTracks& tracks, Lane& lane) const;
  void name_device(const Key& key, const PerfettoTracks& tracks, Lane& lane) const;
  void number_copies(const std::vector<Key>& keys);

  RecordingBuilder& builder_;
  std::unordered_map<Key, uint16_t, Hash> lanes_;
};

}  // namespace rung::trace
