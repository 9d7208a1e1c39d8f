// Names what the host did instead of launching, in the recording's words.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "trace/findings/late_gaps.hpp"

namespace rung::trace {

// Names the host's activity in each gap; gaps are in order. It is the launching thread's shortest event (Python
// function, operation, call or range) that covers half of the gap; else the thread's longest activity; else another
// thread's activity meanwhile.
std::vector<std::string> host_doings(const Analysis& analysis, const std::vector<LateGap>& gaps);

// Returns spans within steps in which launching threads compiled, tuned or loaded kernels.
std::vector<Span> preparation_spans(const Analysis& analysis);

// Returns the host time that disappears with its activity in the gaps: each since the launch or wait before.
std::vector<Span> host_spans(const Analysis& analysis, const std::vector<LateGap>& gaps);

}  // namespace rung::trace
