// Merges recordings of several processes, one of each, into one recording.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <set>
#include <string>

#include "trace/recording/recording.hpp"
#include "trace/recording/recording_builder.hpp"

namespace rung::trace {

class RecordingMerger {
 public:
  explicit RecordingMerger(std::string format) : builder_(std::move(format)) {}

  // Adds a recording with its own devices, processes and links: a number that is taken is replaced.
  void add(const Recording& recording);
  RecordingBuilder& builder() { return builder_; }
  Recording finish() { return builder_.finish(); }

 private:
  class One;

  RecordingBuilder builder_;
  std::set<int64_t> devices_, processes_;  // numbers in use
  uint32_t links_ = 0;
};

}  // namespace rung::trace
