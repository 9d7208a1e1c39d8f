// Facts from one writer's packets so far: names by number, and defaults. They are valid until the writer restarts or
// packets are lost.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "trace/recording/perfetto_categories.hpp"
#include "trace/recording/recording_builder.hpp"

namespace rung::trace {

// The annotations of an event that are read.
enum class Annotation : uint8_t {
  correlation,
  thread,
  agent,
  device,
  queue,
  stream,
  kernel,
  source,
  destination,
  bytes,
  shared_bytes,
  registers,
  accumulators,
  block,
  grid,
  count
};
std::optional<Annotation> annotation_named(std::string_view name);

class PerfettoSequence {
 public:
  // Forgets all earlier facts.
  void clear(bool valid);
  bool valid() const { return valid_; }
  // Take the messages TracePacketDefaults and InternedData. Throw protozero's exceptions.
  void take_defaults(std::string_view message);
  void take_interned(std::string_view message, size_t most, RecordingBuilder& builder);  // `most`: entries in all
  size_t interned() const { return names_.size() + categories_.size() + annotations_.size(); }

  std::optional<uint32_t> clock() const { return clock_; }
  uint64_t track() const { return track_; }
  uint32_t name(uint64_t number) const;  // in the builder's pool; 0: unknown
  const PerfettoCategory* category(uint64_t number) const;
  std::optional<Annotation> annotation(uint64_t number) const;

 private:
  bool valid_ = false;
  std::optional<uint32_t> clock_;
  uint64_t track_ = 0;
  std::unordered_map<uint64_t, uint32_t> names_;
  std::unordered_map<uint64_t, const PerfettoCategory*> categories_;
  std::unordered_map<uint64_t, Annotation> annotations_;
};

}  // namespace rung::trace
