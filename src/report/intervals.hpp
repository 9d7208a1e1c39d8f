// Writes confidence intervals in words, or says that there were too few runs for one.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

#include "ladder/result.hpp"

namespace rung::report {

// Replaces an interval that excludes next to nothing (is_telling()), or a median's interval from too few runs.
inline constexpr std::string_view kTooFewRuns = "too few runs to judge";

// Writes the interval of a ratio: "1.480 – 1.520", and "[1.480, 1.520]" for plain text.
std::string interval_text(const Interval& interval);
std::string bracketed(const Interval& interval);
// Writes the interval of a median, in its column's decimals: "17.8 – 18.6", "[17.8, 18.6]".
std::string interval_text(const Latency& latency, int decimals);
std::string bracketed(const Latency& latency, int decimals);

}  // namespace rung::report
