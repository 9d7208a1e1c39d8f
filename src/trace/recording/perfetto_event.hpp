// One event of a Perfetto trace, completed by its sequence's names and defaults.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "trace/recording/perfetto_sequence.hpp"

namespace rung::trace {

struct PerfettoEvent {
  // The value of an annotation: a number, a text, or neither (missing or of another type).
  struct Value {
    std::optional<int64_t> number;
    std::string_view text;
  };
  uint64_t type = 0;
  uint64_t track = 0;
  uint32_t name = 0;                           // in the builder's pool
  const PerfettoCategory* category = nullptr;  // the first known one
  std::optional<uint64_t> flow;                // the first
  std::array<Value, static_cast<size_t>(Annotation::count)> annotations;

  const Value& operator[](Annotation annotation) const { return annotations[static_cast<size_t>(annotation)]; }
  std::optional<int64_t> number(Annotation annotation) const { return (*this)[annotation].number; }
};

// Reads the message TrackEvent; the event holds views into it. Throws protozero's exceptions.
PerfettoEvent perfetto_event(std::string_view message, const PerfettoSequence& sequence, RecordingBuilder& builder);

}  // namespace rung::trace
