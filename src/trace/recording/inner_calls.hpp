// Calls within calls that a file tells before the work that they start: held until all of it is there.
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

  // With its lane, times and link. Beyond kMost what it started, if anything, keeps a link that no call has.
  void take(const Event& inner) {
    if (calls_.size() < kMost) calls_.push_back(inner);
  }
  // Links the builder's events from `first` on; then none is held.
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
