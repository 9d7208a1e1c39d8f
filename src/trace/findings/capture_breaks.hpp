// Calls of a step that would break the capture of a graph: the host may not wait, ask, or allocate meanwhile.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "trace/analysis/analysis.hpp"

namespace rung::trace {

struct CaptureBreak {
  std::string call;                  // "cudaStreamSynchronize", "cudaMemcpyAsync (pageable memory)"
  std::string place;                 // "in aten::item, between launches"
  bool is_between_launches = false;  // else it can stay outside of the graph
  int64_t count = 0;                 // in the steps that are analysed
  double ms = 0;                     // of the host
};

// By threads that launch; those between launches first, then by time. None where graphs launch all of the work.
std::vector<CaptureBreak> capture_breaks(const Analysis& analysis);

}  // namespace rung::trace
