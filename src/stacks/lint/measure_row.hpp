// A row of a tuning file on a device: the solution that it names and the library's default, timed in turns.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/target.hpp"
#include "stacks/lint/lint.hpp"

namespace rung::stacks {

// For LintOptions::measure. The noise is what the interval of the ratio leaves open: a row is slower where all of it
// is. A process of its own does the work and is kept for the next row until end_gpu_worker(). Errors: a product,
// library or solution that is not here, and what can go wrong with a trial.
Result<MeasuredRow> measure_row(const Target& target, const Entry& entry);

}  // namespace rung::stacks
