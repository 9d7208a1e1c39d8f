// A row of a tuning file on a device: the solution that it names and the library's default, timed in turns.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "advise/tuned/tuning_file.hpp"
#include "kernels/target.hpp"
#include "measure/statistics.hpp"

namespace rung::tasks {

struct RowTimes {
  double us = 0, default_us = 0;  // medians
  RatioEstimate ratio;            // of the default's time to the row's: below 1, the row is slower
};

// Of a GPU, by a process of its own that is kept for the next row until end_gpu_worker(). Errors: a product, library or
// solution that is not here, and what can go wrong with a trial.
Result<RowTimes> measure_row(const Target& target, const advise::tuned::Entry& entry);

}  // namespace rung::tasks
