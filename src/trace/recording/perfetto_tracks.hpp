// The tracks of a Perfetto trace, with their names and owners.
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

  // Takes the message TrackDescriptor. Returns false if there are too many tracks. Throws protozero's exceptions.
  bool take(std::string_view message);
  // Returns the owner from the nearest track, this or one above it, that names one: a descriptor may come after the
  // events on its track.
  Owner owner_of(uint64_t uuid) const;

 private:
  struct Track {
    std::optional<uint64_t> parent;
    Owner owner;
  };
  static Track track_of(std::string_view message, uint64_t& uuid);

  std::unordered_map<uint64_t, Track> tracks_;
};

// Returns the runs of digits in a text: {4, 0} for "COMPUTE AGENT [4] QUEUE [0] (GPU)".
std::vector<int64_t> numbers_in(std::string_view text);

}  // namespace rung::trace
