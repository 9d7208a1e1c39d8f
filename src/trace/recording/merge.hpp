// Recordings of several processes, one of each, as one recording.
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

  // Each has devices, processes and links of its own: where a number is taken, it gets another one.
  void add(const Recording& recording);
  RecordingBuilder& builder() { return builder_; }
  Recording finish() { return builder_.finish(); }

 private:
  class One;

  RecordingBuilder builder_;
  std::set<int64_t> devices_, processes_;  // taken
  uint32_t links_ = 0;
};

}  // namespace rung::trace
