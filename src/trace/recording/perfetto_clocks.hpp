// The clocks of a Perfetto trace: simultaneous readings of several show each one's distance from the trace's own.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

namespace rung::trace {

class PerfettoClocks {
 public:
  // Takes the message ClockSnapshot, by a sequence of packets. Throws protozero's exceptions.
  void take_snapshot(uint32_t sequence, std::string_view message);
  // Returns a packet's time on the trace's clock. Ask for each packet once and in order: some clocks count from the
  // packet before. No clock: the trace's own. None: a clock that no snapshot names, or a time out of range.
  std::optional<int64_t> trace_ns(uint32_t sequence, std::optional<uint32_t> clock, uint64_t time);

 private:
  struct Clock {
    uint64_t unit_ns = 1;
    bool incremental = false;
    uint64_t last = 0;     // in units: the last packet's time, for incremental clocks
    int64_t ahead_ns = 0;  // relative to the trace's clock
  };
  struct Reading {
    uint32_t id = 0;
    uint64_t time = 0;
    Clock clock;
  };
  using Key = std::pair<uint32_t, uint32_t>;  // the sequence, for clocks that belong to one; the clock
  static Key key_of(uint32_t sequence, uint32_t clock);
  static Reading reading_of(std::string_view message);

  std::map<Key, Clock> clocks_;
  std::optional<uint32_t> primary_;
};

}  // namespace rung::trace
