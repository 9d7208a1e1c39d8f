// Confidence intervals in words, or that there were too few runs for one.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

#include "ladder/result.hpp"

namespace rung::report {

// In place of an interval that rules next to nothing out (is_telling()), or that fewer runs than it takes cannot have.
inline constexpr std::string_view kTooFewRuns = "too few runs to judge";

// The interval of a ratio: "1.480 – 1.520", and "[1.480, 1.520]" for plain text.
std::string interval_text(const Interval& interval);
std::string bracketed(const Interval& interval);
// The interval of a median, in its column's decimals: "17.8 – 18.6", "[17.8, 18.6]".
std::string interval_text(const Latency& latency, int decimals);
std::string bracketed(const Latency& latency, int decimals);

}  // namespace rung::report
