// Corrects the times of parts by those of whole plans. A launch that is timed alone knows nothing of its neighbours:
// what runs beside it, what their types make it convert, whose loads it hides.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "ladder/precision/table.hpp"

namespace rung {

// The time that a whole plan saves over the plan in which nothing is narrow, as a race measured it.
struct MeasuredSaving {
  MixedPrecision mixture;
  double us = 0;
  double deviation_us = 0;  // of the race; it counts as at least 0.3 % of the time of the plan that nothing narrows
};

// Returns the table with other times of forms and of narrow values, by which the plans save about what was measured.
// These are the likeliest such times, if what a form saves is normally distributed around what the table says,
// with a deviation as large, and races with their own (Bayesian linear regression): plans that agree with the table
// confirm their forms, and a form that only slow plans have takes the blame.
PrecisionTable corrected(PrecisionTable table, const std::vector<MeasuredSaving>& plans);

// Returns the table with times that are drawn at random as the plans leave them possible. The fastest mixture by such
// times is worth a measurement: it may be the fastest of all (Thompson sampling). Equal seeds give equal times.
PrecisionTable drawn(PrecisionTable table, const std::vector<MeasuredSaving>& plans, uint64_t seed);

}  // namespace rung
