// Links of work that was started by a call within another: rocprofv3, when it traces HSA too, gives a kernel the
// correlation of HSA's call, which is left out, not that of HIP's call around it, which is kept.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "trace/recording/recording_builder.hpp"

namespace rung::trace {

class OuterCalls {
 public:
  // The outer calls of the builder's events from `first` on.
  OuterCalls(const RecordingBuilder& builder, size_t first);
  bool wanted() const { return !orphans_.empty(); }
  // An inner call: what it started, if anything, is its outer call's.
  void take(const Event& inner);
  void link(RecordingBuilder& builder) const;

 private:
  uint32_t outer_link(const Event& inner) const;

  size_t first_;
  std::vector<Event> calls_;                          // by lane and start
  std::vector<uint32_t> orphans_;                     // links of work that no kept call has; in order
  std::vector<std::pair<uint32_t, uint32_t>> found_;  // inner link -> outer link
};

}  // namespace rung::trace
