// Finds activities that keep host threads from launching work.
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

// Returns spans by lane, in order and apart: the outermost of nested ones. Copies count if they block the thread.
std::vector<std::vector<HostTime>> host_times(const Recording& recording, const std::vector<Work>& work);

}  // namespace rung::trace
