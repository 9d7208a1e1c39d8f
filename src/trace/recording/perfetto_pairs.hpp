// Pairs begins and ends of a Perfetto trace's slices: an end belongs to the last begin on its track.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/recording/perfetto_categories.hpp"
#include "trace/recording/recording.hpp"

namespace rung::trace {

class PerfettoPairs {
 public:
  // A slice that began, its duration not known yet. Null category: unknown.
  struct Slice {
    Event event;
    const PerfettoCategory* category = nullptr;
    PerfettoMeaning meaning = PerfettoMeaning::left_out;
  };

  // One writer's packets come in order; several writers' do not. So a slice that one writer began and another ended on
  // the same track is paired when all packets are read.
  bool begin(uint32_t sequence, uint64_t track, const Slice& slice);  // false: too many are open
  // Returns true if `slice` ended here.
  bool end(uint32_t sequence, uint64_t track, int64_t end_ns, Slice& slice);
  // Called when packets of the sequence were lost: open slices may have ended. Drops them and returns their number.
  size_t drop(uint32_t sequence);

  // Calls take(slice) for slices of several writers, then returns the numbers of begins and ends without a partner.
  struct Alone {
    int64_t begins = 0, ends = 0;
  };
  template <class F>
  Alone finish(const F& take) {
    std::vector<Half> halves = leftover();
    Alone alone;
    std::vector<Half> open;
    for (size_t i = 0; i < halves.size(); ++i) {
      if (i > 0 && halves[i].track != halves[i - 1].track) {
        alone.begins += static_cast<int64_t>(open.size());
        open.clear();
      }
      if (!halves[i].ends) {
        open.push_back(halves[i]);
      } else if (open.empty()) {
        ++alone.ends;
      } else {
        open.back().slice.event.duration_ns = halves[i].time_ns - open.back().time_ns;
        take(open.back().slice);
        open.pop_back();
      }
    }
    alone.begins += static_cast<int64_t>(open.size());
    alone.ends += lost_ends_;
    return alone;
  }

 private:
  static constexpr size_t kMostOpen = 1'000'000;
  static constexpr size_t kMostEnds = 1'000'000;

  struct Half {
    uint64_t track = 0;
    int64_t time_ns = 0;
    bool ends = false;
    Slice slice;
  };
  struct End {
    uint64_t track;
    int64_t time_ns;
  };
  using Tracks = std::unordered_map<uint64_t, std::vector<Slice>>;
  std::vector<Half> leftover();  // by track and time

  std::unordered_map<uint32_t, Tracks> open_;  // by sequence
  size_t open_count_ = 0;
  std::vector<End> ends_;  // without a begin in their own sequence
  int64_t lost_ends_ = 0;  // beyond kMostEnds
};

}  // namespace rung::trace
