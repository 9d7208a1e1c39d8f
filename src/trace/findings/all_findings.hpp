// Declares the functions that look for findings: each has a file and a row of findings.inc.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "trace/findings/trace_finding.hpp"

namespace rung::trace::findings {

// The function `name` returns the finding with the id "name"; none if the recording does not show the pattern.
#define RUNG_FINDING(name, rests_on) std::optional<TraceFinding> name(const Analysis& analysis);
#include "trace/findings/findings.inc"
#undef RUNG_FINDING

}  // namespace rung::trace::findings
