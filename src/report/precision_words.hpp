// Words on the plans that a search of precision built, for all forms of the report.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "ladder/result.hpp"

namespace rung::report {

// Returns "all bf16, values in bf16" or, for a mixture, "mixture 3": the third of them.
std::string whole_name(const PrecisionReport& report, size_t i);
// Returns "chosen", "within the stated error" or "beyond it".
std::string whole_verdict(const WholeReport& whole);
// Returns one sentence on what the search chose; empty: there was none.
std::string precision_line(const ClimbResult& result);
// Returns the time of the plan that the search began with, as the first race measured it; NaN: there was no race.
double start_ms(const PrecisionReport& report);

}  // namespace rung::report
