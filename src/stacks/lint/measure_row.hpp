// Times a row of a tuning file on a device: the solution that it names and the library's default, in turns.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/target.hpp"
#include "stacks/lint/lint.hpp"

namespace rung::stacks {

// Implements LintOptions::measure. The noise is the width of the ratio's interval: a row counts as slower if the whole
// interval says so. A separate process does the work and stays for the next row until end_gpu_worker(). Errors: a
// product, library or solution that is not here, and those of a trial.
Result<MeasuredRow> measure_row(const Target& target, const Entry& entry);

}  // namespace rung::stacks
