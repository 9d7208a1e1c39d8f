// Finds calls of a step that would break a graph capture: during it the host may not wait, query or allocate.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "trace/analysis/analysis.hpp"

namespace rung::trace {

struct CaptureBreak {
  std::string call;                  // "cudaStreamSynchronize", "cudaMemcpyAsync (pageable memory)"
  std::string place;                 // "in aten::item, between launches"
  bool is_between_launches = false;  // else it can stay outside the graph
  int64_t count = 0;                 // in the steps analysed
  double ms = 0;                     // host time
};

// Returns breaks on launching threads: those between launches first, then by time. Empty if graphs launch all work.
std::vector<CaptureBreak> capture_breaks(const Analysis& analysis);

}  // namespace rung::trace
