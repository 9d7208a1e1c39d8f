// Keeps tables of known values; sorts events and keeps one clock at the end.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/recording_builder.hpp"

#include <algorithm>
#include <array>

#include "base/json.hpp"

namespace rung::trace {
namespace {

constexpr size_t kTextOverhead = 128;  // of a text's entries in the pool and its index
constexpr int64_t kMostDevices = 1024;

size_t mix(size_t seed, uint64_t value) {
  seed ^= value;
  seed *= 0x9e3779b97f4a7c15;
  return seed ^ (seed >> 29);
}

// The rank of each EventKind at equal times: enclosing kinds come first: range, operation, call.
constexpr std::array<uint8_t, 7> kRankOfKind{3, 4, 5, 1, 2, 0, 0};

bool comes_before(const Event& a, const Event& b) {
  const auto key = [](const Event& e) {
    return std::tuple(e.lane, kRankOfKind[static_cast<size_t>(e.kind)], e.name, e.link, e.detail);
  };
  if (a.start_ns != b.start_ns) return a.start_ns < b.start_ns;
  if (a.duration_ns != b.duration_ns) return a.duration_ns > b.duration_ns;
  return key(a) < key(b);
}

}  // namespace

size_t RecordingBuilder::Hash::operator()(const LaunchShape& shape) const {
  size_t seed = 0;
  for (const uint32_t extent : shape.grid) seed = mix(seed, extent);
  for (const uint32_t extent : shape.block) seed = mix(seed, extent);
  return mix(mix(seed, shape.registers), shape.shared_bytes);
}

size_t RecordingBuilder::Hash::operator()(const CopyShape& shape) const {
  const auto kinds = static_cast<uint64_t>(shape.from) << 8 | static_cast<uint64_t>(shape.to) << 4 |
                     static_cast<uint64_t>(shape.host_to_device) << 1 | static_cast<uint64_t>(shape.device_to_host);
  return mix(mix(0, static_cast<uint64_t>(shape.bytes)), kinds);
}

size_t RecordingBuilder::Hash::operator()(const OperandTexts& texts) const {
  const size_t seed = mix(mix(mix(mix(0, texts.shapes), texts.strides), texts.types), texts.values);
  return mix(mix(seed, texts.ranks), static_cast<uint64_t>(texts.message_bytes));
}

size_t RecordingBuilder::Hash::operator()(const std::pair<int64_t, int64_t>& pair) const {
  return mix(mix(0, static_cast<uint64_t>(pair.first)), static_cast<uint64_t>(pair.second));
}

uint32_t RecordingBuilder::text(std::string_view text) {
  if (const auto known = recording_.strings.find(text)) return *known;
  if (text.size() > kLongestText) {
    skip(fmt::format("texts longer than {} MB", kLongestText >> 20));
    return 0;
  }
  const std::string valid = valid_utf8(text);
  if (const auto known = recording_.strings.find(valid)) return *known;
  if (text_bytes_ + valid.size() + kTextOverhead > kMostTextBytes) {
    skip(fmt::format("texts beyond {} MB of different ones", kMostTextBytes >> 20));
    return 0;
  }
  text_bytes_ += valid.size() + kTextOverhead;
  return recording_.strings.number_of(valid);
}

uint16_t RecordingBuilder::lane_of(Lanes& lanes, int64_t owner, int64_t number, const Lane& lane) {
  if (const auto known = lanes.find({owner, number}); known != lanes.end()) return known->second;
  if (recording_.lanes.size() == kMostLanes) return kNoLane;
  recording_.lanes.push_back(lane);
  return lanes[{owner, number}] = static_cast<uint16_t>(recording_.lanes.size() - 1);
}

uint16_t RecordingBuilder::device_lane(int64_t device, int64_t stream) {
  if (device < 0 || device >= kMostDevices) return kNoLane;
  return lane_of(device_lanes_, device, stream, {true, static_cast<int>(device), 0, stream, {}});
}

uint16_t RecordingBuilder::host_lane(int64_t process, int64_t thread) {
  return lane_of(host_lanes_, process, thread, {false, -1, process, thread, {}});
}

template <class T>
uint32_t RecordingBuilder::row_of(std::vector<T>& table, Known<T>& known, const T& value) {
  if (value == T{}) return 0;
  if (const auto it = known.find(value); it != known.end()) return it->second;
  if (table.size() == kMostDetails) {
    skip(fmt::format("shapes beyond {} different ones", kMostDetails));
    return 0;
  }
  table.push_back(value);
  return known[value] = static_cast<uint32_t>(table.size() - 1);
}

uint32_t RecordingBuilder::launch(const LaunchShape& shape) { return row_of(recording_.launches, launches_, shape); }
uint32_t RecordingBuilder::copy(const CopyShape& shape) { return row_of(recording_.copies, copies_, shape); }
uint32_t RecordingBuilder::operands(const OperandTexts& texts) { return row_of(recording_.operands, operands_, texts); }

void RecordingBuilder::add(const Event& event) {
  if (event.lane == kNoLane) return skip("streams and threads beyond what a recording holds");
  if (event.start_ns < 0) return skip("negative time");
  if (event.duration_ns < 0) return skip("negative duration");
  if (event.duration_ns > kLongestNs || event.start_ns > INT64_MAX - kLongestNs) return skip("longer than a day");
  if (recording_.events.size() == kMostEvents) return skip(fmt::format("beyond {} events", kMostEvents));
  recording_.events.push_back(event);
}

void RecordingBuilder::skip(std::string_view reason, int64_t events) {
  const auto known = recording_.skipped.find(reason);
  (known == recording_.skipped.end() ? recording_.skipped[std::string(reason)] : known->second) += events;
}

bool RecordingBuilder::set_times(Event& event, std::optional<int64_t> start_ns, std::optional<int64_t> end_ns) {
  if (!start_ns || !end_ns) return skip("a time that is missing or no number"), false;
  if (*start_ns == 0 && *end_ns == 0) return skip("work whose times the profiler did not get"), false;
  if (*start_ns < 0 || *end_ns < 0) return skip("negative time"), false;
  event.start_ns = *start_ns;
  event.duration_ns = *end_ns - *start_ns;
  return true;
}

void RecordingBuilder::name_device(size_t number, std::string_view name) {
  auto& names = recording_.device_names;
  if (number >= static_cast<size_t>(kMostDevices)) return;
  if (names.size() <= number) names.resize(number + 1);
  names[number] = short_name(name);
}

std::string RecordingBuilder::short_name(std::string_view name) { return valid_utf8(name.substr(0, kLongestName)); }

// Events stamped by another clock (before a reset, or by a device whose clock was not aligned) lie far from the others.
// Keeps the part with the most device work; of equals the one with the most events.
void RecordingBuilder::keep_one_clock() {
  auto& events = recording_.events;
  using Weight = std::pair<size_t, size_t>;
  size_t best_begin = 0, best_end = 0, begin = 0;
  Weight best, weight;
  int64_t last_ns = events.empty() ? 0 : events.front().start_ns;
  const auto close = [&](size_t end) {
    if (weight > best) std::tie(best, best_begin, best_end) = std::tuple(weight, begin, end);
    weight = {};
    begin = end;
  };
  for (size_t i = 0; i < events.size(); ++i) {
    if (events[i].start_ns - last_ns > kClockResetNs) close(i);
    last_ns = std::max(last_ns, events[i].end_ns());
    weight.first += is_on_device(events[i].kind);
    ++weight.second;
  }
  close(events.size());
  if (const size_t others = events.size() - (best_end - best_begin)) {
    skip("more than an hour apart from the rest: another clock", static_cast<int64_t>(others));
    events.erase(events.begin() + static_cast<ptrdiff_t>(best_end), events.end());
    events.erase(events.begin(), events.begin() + static_cast<ptrdiff_t>(best_begin));
  }
}

Recording RecordingBuilder::finish() {
  std::sort(recording_.events.begin(), recording_.events.end(), comes_before);
  keep_one_clock();
  return std::move(recording_);
}

}  // namespace rung::trace
