// Links work that a call within another call started: when rocprofv3 also traces HSA, it gives a kernel the correlation
// of the HSA call, which is left out, instead of the enclosing HIP call's, which is kept.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "trace/recording/recording_builder.hpp"

namespace rung::trace {

class OuterCalls {
 public:
  // Takes outer calls from the builder's events from index `first` on.
  OuterCalls(const RecordingBuilder& builder, size_t first);
  bool wanted() const { return !orphans_.empty(); }
  // Takes an inner call: work that it started belongs to its outer call.
  void take(const Event& inner);
  void link(RecordingBuilder& builder) const;

 private:
  uint32_t outer_link(const Event& inner) const;

  size_t first_;
  std::vector<Event> calls_;                          // by lane and start
  std::vector<uint32_t> orphans_;                     // links of work without a kept call; in order
  std::vector<std::pair<uint32_t, uint32_t>> found_;  // inner link -> outer link
};

}  // namespace rung::trace
