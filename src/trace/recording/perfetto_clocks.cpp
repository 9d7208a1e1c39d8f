// Clocks 64 to 127 belong to one sequence. A system clock that no snapshot names counts as the trace's clock: the two
// agree on a machine that was not suspended.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/perfetto_clocks.hpp"

#include <limits>
#include <vector>

#include "trace/recording/perfetto_fields.hpp"

namespace rung::trace {
namespace {

constexpr uint32_t kSinceBoot = 6;  // the trace's clock by default
constexpr uint32_t kFirstOfSequence = 64, kLastOfSequence = 127;
constexpr size_t kMostClocks = 100'000;

std::optional<int64_t> ns_of(uint64_t time, uint64_t unit_ns) {
  uint64_t ns = 0;
  if (__builtin_mul_overflow(time, unit_ns, &ns) || ns > uint64_t{std::numeric_limits<int64_t>::max()})
    return std::nullopt;
  return static_cast<int64_t>(ns);
}

}  // namespace

PerfettoClocks::Key PerfettoClocks::key_of(uint32_t sequence, uint32_t clock) {
  return {clock >= kFirstOfSequence && clock <= kLastOfSequence ? sequence : 0, clock};
}

PerfettoClocks::Reading PerfettoClocks::reading_of(std::string_view message) {
  Reading reading;
  each_field(message, [&](protozero::pbf_reader& field) {
    switch (field.tag_and_type()) {
      case varint(kClockId):
        return void(reading.id = field.get_uint32());
      case varint(kClockTimestamp):
        return void(reading.time = field.get_uint64());
      case varint(kClockIncremental):
        return void(reading.clock.incremental = field.get_bool());
      case varint(kClockUnit):
        return void(reading.clock.unit_ns = std::max<uint64_t>(field.get_uint64(), 1));
      default:
        field.skip();
    }
  });
  reading.clock.last = reading.time;
  return reading;
}

void PerfettoClocks::take_snapshot(uint32_t sequence, std::string_view message) {
  std::vector<Reading> readings;
  each_field(message, [&](protozero::pbf_reader& field) {
    switch (field.tag_and_type()) {
      case bytes(kClocks):
        return void(readings.push_back(reading_of(view_of(field.get_view()))));
      case varint(kPrimaryClock):
        return void(primary_ = primary_.value_or(field.get_uint32()));
      default:
        field.skip();
    }
  });
  // The trace's time of these readings: from its own clock, or one whose distance is known, or else the first clock.
  std::optional<int64_t> now;
  for (const Reading& reading : readings)
    if (reading.id == primary_.value_or(kSinceBoot)) now = ns_of(reading.time, reading.clock.unit_ns);
  for (const Reading& reading : readings) {
    const auto known = clocks_.find(key_of(sequence, reading.id));
    const auto ns = ns_of(reading.time, reading.clock.unit_ns);
    int64_t sum = 0;
    if (!now && ns && known != clocks_.end() && !__builtin_sub_overflow(*ns, known->second.ahead_ns, &sum)) now = sum;
  }
  if (!now && !readings.empty()) now = ns_of(readings[0].time, readings[0].clock.unit_ns);
  for (Reading& reading : readings) {
    const auto ns = ns_of(reading.time, reading.clock.unit_ns);
    if (!now || !ns || clocks_.size() == kMostClocks) continue;
    if (!__builtin_sub_overflow(*ns, *now, &reading.clock.ahead_ns))
      clocks_[key_of(sequence, reading.id)] = reading.clock;
  }
}

std::optional<int64_t> PerfettoClocks::trace_ns(uint32_t sequence, std::optional<uint32_t> clock, uint64_t time) {
  const uint32_t id = clock.value_or(primary_.value_or(kSinceBoot));
  const auto known = clocks_.find(key_of(sequence, id));
  if (known == clocks_.end()) return id < kFirstOfSequence ? ns_of(time, 1) : std::nullopt;
  Clock& by = known->second;
  if (by.incremental && __builtin_add_overflow(by.last, time, &time)) return std::nullopt;
  by.last = time;
  const auto ns = ns_of(time, by.unit_ns);
  int64_t trace = 0;
  if (!ns || __builtin_sub_overflow(*ns, by.ahead_ns, &trace)) return std::nullopt;
  return trace;
}

}  // namespace rung::trace
