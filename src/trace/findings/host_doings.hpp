// The host's activity instead of launching, by the names that a recording has for it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "trace/findings/late_gaps.hpp"

namespace rung::trace {

// Names the host's activity in each gap; gaps are in order. It is the shortest event of the launching thread that
// covers half of it, a function of Python, an operation, a call, a range; else the thread's longest activity; else
// another thread's meanwhile.
std::vector<std::string> host_doings(const Analysis& analysis, const std::vector<LateGap>& gaps);

// Within the steps: when launching threads compiled, tuned or loaded kernels.
std::vector<Span> preparation_spans(const Analysis& analysis);

// The time of the host that would vanish with what it did in the gaps: since its launch or wait before.
std::vector<Span> host_spans(const Analysis& analysis, const std::vector<LateGap>& gaps);

}  // namespace rung::trace
