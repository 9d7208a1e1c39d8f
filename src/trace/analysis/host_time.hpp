// Causes that keep the threads of the host from launching work.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "trace/analysis/analysis.hpp"

namespace rung::trace {

struct HostTime {
  Span span;
  GapCause cause = GapCause::unknown;
  uint32_t event = kNone;
};

// By lane, in order, apart: of what is nested the outermost. A copy is here if it blocks its thread.
std::vector<std::vector<HostTime>> host_times(const Recording& recording, const std::vector<Work>& work);

}  // namespace rung::trace
