// Holds calls within calls, which a file lists before the work that they start, until all of it is read.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <vector>

#include "trace/recording/outer_calls.hpp"
#include "trace/recording/recording_builder.hpp"

namespace rung::trace {

class InnerCalls {
 public:
  static constexpr size_t kMost = 1'500'000;  // 48 MB

  // Takes a call with its lane, times and link. Work that a call beyond kMost started keeps a link that no call has.
  void take(const Event& inner) {
    if (calls_.size() < kMost) calls_.push_back(inner);
  }
  // Links the builder's events from index `first` on, then drops the calls.
  void link(RecordingBuilder& builder, size_t first) {
    if (calls_.empty()) return;
    OuterCalls outer(builder, first);
    for (const Event& call : calls_) outer.take(call);
    outer.link(builder);
    calls_ = {};
  }

 private:
  std::vector<Event> calls_;
};

}  // namespace rung::trace
