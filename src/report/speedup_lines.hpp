// The claims of a climb, in sentences: every form of the report takes them from here.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "ladder/result.hpp"
#include "report/format.hpp"

namespace rung::report {

// "3.42 × faster [3.31, 3.52]", "1.20 × slower [...]", "no change was shown to be faster [0.99, 1.01]", or why there
// was no race.
std::string claim_text(const Speedup& claim);
// Its two parts where there was a race.
std::string factor_text(const Speedup& claim);
std::string interval_text(const Speedup& claim);

// Against the baseline: "40.1 ms → 9.38 ms, 4.28 × faster [4.21, 4.35]".
std::string baseline_line(const ClimbResult& result);
// Against opening the model without a climb, and what a climb that brought nothing proved.
std::string no_climb_line(const ClimbResult& result);
// The speed-up of a cheaper precision, its error, and the command; empty: there is none.
std::string cheaper_line(const ClimbResult& result);
// By how much the climb took longer than its budget, and whether it had to; empty: it did not.
std::string overrun_line(const ClimbResult& result);

}  // namespace rung::report
