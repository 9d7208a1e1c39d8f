// Writes a climb's claims as sentences, for every form of the report.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "ladder/result.hpp"
#include "report/format.hpp"

namespace rung::report {

// Returns "3.42 × faster [3.31, 3.52]", "1.20 × slower [...]", "no change was shown to be faster [0.99, 1.01]", or the
// reason why there was no race.
std::string claim_text(const Speedup& claim);
// Return the claim's two parts if there was a race.
std::string factor_text(const Speedup& claim);
std::string interval_text(const Speedup& claim);

// Compares with the baseline: "40.1 ms → 9.38 ms, 4.28 × faster [4.21, 4.35]".
std::string baseline_line(const ClimbResult& result);
// Compares with opening the model without a climb; if nothing was gained, says what the climb proved.
std::string no_climb_line(const ClimbResult& result);
// Returns the speed-up of a cheaper precision, its error and the command; empty: no such precision.
std::string cheaper_line(const ClimbResult& result);
// Returns how long the climb took against its budget, and whether that was unavoidable; empty: within its budget.
std::string overrun_line(const ClimbResult& result);

}  // namespace rung::report
