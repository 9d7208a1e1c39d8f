// The tracks of a Perfetto trace: what they are called, and whose they are.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace rung::trace {

class PerfettoTracks {
 public:
  struct Owner {
    std::optional<int64_t> process, thread;
    std::string name;
  };

  // The message TrackDescriptor. False: one track too many. Throws what protozero throws.
  bool take(std::string_view message);
  // The owner by the nearest of the track and those above it that names one: a descriptor may come after the events on
  // its track.
  Owner owner_of(uint64_t uuid) const;

 private:
  struct Track {
    std::optional<uint64_t> parent;
    Owner owner;
  };
  static Track track_of(std::string_view message, uint64_t& uuid);

  std::unordered_map<uint64_t, Track> tracks_;
};

// Runs of digits in a text: {4, 0} of "COMPUTE AGENT [4] QUEUE [0] (GPU)".
std::vector<int64_t> numbers_in(std::string_view text);

}  // namespace rung::trace
