// Declares the detectors: each looks for one pattern, and has a file and a row of detectors.inc.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "trace/findings/advice.hpp"

namespace rung::trace::detectors {

// The detector `name` gives advice with the id "name"; none if the recording does not show the pattern.
#define RUNG_DETECTOR(name, rests_on) std::optional<Advice> name(const Analysis& analysis);
#include "trace/findings/detectors.inc"
#undef RUNG_DETECTOR

}  // namespace rung::trace::detectors
