// The builder into which every reader puts its events: it deduplicates texts, lanes and details, leaves out implausible
// values, and limits memory; it counts each omission under its reason.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "trace/recording/recording.hpp"

namespace rung::trace {

// Limits of one recording. A trace of 1 GB has about three million events.
inline constexpr size_t kMostEvents = 6'000'000;            // 192 MB
inline constexpr size_t kMostTextBytes = size_t{64} << 20;  // of distinct texts, with their index
inline constexpr size_t kLongestText = size_t{1} << 20;     // of a single text
inline constexpr size_t kLongestName = 256;                 // of a lane or a device; the rest is cut off
inline constexpr size_t kMostDetails = 500'000;             // in each table, about 40 MB
inline constexpr size_t kMostLanes = 65'535;
inline constexpr int64_t kLongestNs = 24 * 3600 * 1'000'000'000LL;  // of one event
inline constexpr int64_t kClockResetNs = 3600 * 1'000'000'000LL;    // a longer time without events: another clock
inline constexpr uint16_t kNoLane = 65'535;

class RecordingBuilder {
 public:
  explicit RecordingBuilder(std::string format) { recording_.format = std::move(format); }

  // Reserves space for roughly this number of events; unused space takes no memory.
  void expect(size_t events) { recording_.events.reserve(std::min(events, kMostEvents)); }

  // Replaces bytes that are not UTF-8 by U+FFFD. Returns 0 for an empty text, or beyond kLongestText or kMostTextBytes.
  uint32_t text(std::string_view text);
  // Returns the lane with these numbers; kNoLane: beyond kMostLanes.
  uint16_t device_lane(int64_t device, int64_t stream);
  uint16_t host_lane(int64_t process, int64_t thread);
  Lane& lane(uint16_t number) { return recording_.lanes[number]; }
  std::vector<Lane>& lanes() { return recording_.lanes; }
  std::vector<Event>& events() { return recording_.events; }  // in order of arrival
  // Returns the index of the table's row with these values; 0: unknown, or beyond kMostDetails.
  uint32_t launch(const LaunchShape& shape);
  uint32_t copy(const CopyShape& shape);
  uint32_t operands(const OperandTexts& texts);

  // Adds an event, but only counts those with negative times, kNoLane, or more than a day.
  void add(const Event& event);
  void skip(std::string_view reason, int64_t events = 1);
  // Sets the times of an event from both its ends. Returns false, and counts the event, if an end is missing or
  // negative, or both are 0, which profilers write for times that they did not get.
  bool set_times(Event& event, std::optional<int64_t> start_ns, std::optional<int64_t> end_ns);
  void name_device(size_t number, std::string_view name);
  // Shortens a name for a lane.
  static std::string short_name(std::string_view name);
  size_t size() const { return recording_.events.size(); }
  const Recording& recording() const { return recording_; }

  // Returns the events in order, without those of another clock.
  Recording finish();

 private:
  struct Hash {
    size_t operator()(const LaunchShape& shape) const;
    size_t operator()(const CopyShape& shape) const;
    size_t operator()(const OperandTexts& texts) const;
    size_t operator()(const std::pair<int64_t, int64_t>& pair) const;
  };
  template <class T>
  using Known = std::unordered_map<T, uint32_t, Hash>;
  using Lanes = std::unordered_map<std::pair<int64_t, int64_t>, uint16_t, Hash>;
  template <class T>
  uint32_t row_of(std::vector<T>& table, Known<T>& known, const T& value);
  uint16_t lane_of(Lanes& lanes, int64_t owner, int64_t number, const Lane& lane);
  void keep_one_clock();

  Recording recording_;
  size_t text_bytes_ = 0;
  Known<LaunchShape> launches_;
  Known<CopyShape> copies_;
  Known<OperandTexts> operands_;
  Lanes host_lanes_, device_lanes_;
};

}  // namespace rung::trace
