// The clocks of a Perfetto trace: readings of several at once tell how far each is from the trace's own.
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
  // The message ClockSnapshot, by a sequence of packets. Throws what protozero throws.
  void take_snapshot(uint32_t sequence, std::string_view message);
  // A packet's time on the trace's clock; each is to be asked for once and in order: some clocks count from the packet
  // before. No clock: the trace's own. Nothing: a clock that no snapshot names, or a time beyond what a clock can have.
  std::optional<int64_t> trace_ns(uint32_t sequence, std::optional<uint32_t> clock, uint64_t time);

 private:
  struct Clock {
    uint64_t unit_ns = 1;
    bool incremental = false;
    uint64_t last = 0;     // in units: of the last packet, where it is incremental
    int64_t ahead_ns = 0;  // of the trace's clock
  };
  struct Reading {
    uint32_t id = 0;
    uint64_t time = 0;
    Clock clock;
  };
  using Key = std::pair<uint32_t, uint32_t>;  // the sequence, for clocks of its own; the clock
  static Key key_of(uint32_t sequence, uint32_t clock);
  static Reading reading_of(std::string_view message);

  std::map<Key, Clock> clocks_;
  std::optional<uint32_t> primary_;
};

}  // namespace rung::trace
