// Describes clocks, power and throttling in words.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ladder/result.hpp"
#include "report/format.hpp"

namespace rung::report {

std::string cadence_name(double rate_hz);  // "back to back", "at 20 Hz"

// Returns "350 W of 700 W, 5.10 J per run, 0.196 runs per joule, SM clock 1,980 MHz, ...", or why nothing is known.
std::string load_text(const DeviceLoad& load);

// Returns "DISTURBED: other programs had 48 % of the processors", or nothing; every report shows this same line.
std::string disturbance_line(const Disturbance& disturbance);

// Returns each cadence's latency and load, and a line that begins with "THROTTLED" if the device throttled there.
std::vector<std::string> load_lines(const std::vector<LoadedRuns>& loads, Clock clock);

}  // namespace rung::report
