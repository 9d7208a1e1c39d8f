// A recording from bytes that a test writes, and what tests look at in one.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "support/temporary_directory.hpp"
#include "trace/recording/read.hpp"

namespace rung::trace {

// In one file again and again: to make one and remove it costs a hundred times as much as to read it.
inline Result<Recording> read_bytes(std::string_view bytes) {
  static const TemporaryDirectory folder;
  return read_recording(folder.write("trace", bytes));
}

// Without the path before it, which differs from run to run; empty: there was none.
inline std::string error_of(std::string_view bytes) {
  const auto recording = read_bytes(bytes);
  if (recording) return "";
  const std::string& message = recording.error().message;
  const size_t after = message.find("/trace': ");
  EXPECT_NE(after, std::string::npos) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  return message.substr(after + 9);
}

// Of damaged bytes: an error that names their file, or events whose numbers lead somewhere.
inline void expect_sound_or_refused(const Result<Recording>& result) {
  if (!result) {
    EXPECT_THAT(result.error().message, testing::HasSubstr("trace': "));
    return;
  }
  for (const Event& event : result->events) {
    EXPECT_LT(event.name, result->strings.size());
    EXPECT_LT(event.lane, result->lanes.size());
  }
}

// The first event with the name; the test fails where there is none.
inline Event event_named(const Recording& recording, std::string_view name) {
  for (const Event& event : recording.events)
    if (recording.name_of(event) == name) return event;
  ADD_FAILURE() << "no event " << name;
  return {};
}

inline std::vector<std::string> names_of(const Recording& recording) {
  std::vector<std::string> names;
  for (const Event& event : recording.events) names.emplace_back(recording.name_of(event));
  return names;
}

inline int64_t skipped(const Recording& recording, std::string_view reason) {
  const auto known = recording.skipped.find(reason);
  return known == recording.skipped.end() ? 0 : known->second;
}

inline int64_t all_skipped(const Recording& recording) {
  int64_t sum = 0;
  for (const auto& [reason, events] : recording.skipped) sum += events;
  return sum;
}

}  // namespace rung::trace
