// Turns packets of a Perfetto trace into events with times, using earlier packets of their sequence.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "base/status.hpp"
#include "trace/recording/perfetto_clocks.hpp"
#include "trace/recording/perfetto_recorder.hpp"
#include "trace/recording/perfetto_sequence.hpp"

namespace rung::trace {

class PerfettoPackets {
 public:
  explicit PerfettoPackets(PerfettoRecorder& recorder) : recorder_(recorder) {}
  // Errors: bytes that are no message; they give no position.
  Status take(std::string_view packet);

 private:
  struct Packet {
    std::optional<uint64_t> time;
    std::optional<uint32_t> clock;
    uint32_t sequence = 0;
    int64_t process = 0;
    uint64_t flags = 0;
    bool lost_others = false, other = false;
    std::string_view event, descriptor, interned, defaults, snapshot, deflated;
  };
  static Packet packet_of(std::string_view bytes);
  Status take_checked(std::string_view bytes, bool within_packed);
  void take_state(const Packet& packet, PerfettoSequence& sequence);
  void take_event(const Packet& packet, const PerfettoSequence& sequence, std::optional<int64_t> time_ns);
  Status take_deflated(std::string_view packed);

  static constexpr size_t kMostSequences = 65'536;
  static constexpr size_t kMostInterned = 1'000'000;  // over all sequences

  PerfettoRecorder& recorder_;
  PerfettoClocks clocks_;
  std::unordered_map<uint32_t, PerfettoSequence> sequences_;
  size_t interned_ = 0;
};

}  // namespace rung::trace
