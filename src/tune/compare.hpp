// Times two candidates of a problem in turns, in a worker process, and estimates the ratio of their times.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "measure/statistics.hpp"
#include "tune/worker.hpp"

namespace rung {

struct Compared {
  double first_us = 0, second_us = 0;  // medians
  RatioEstimate ratio;                 // first's time / second's
};

inline constexpr int kComparedPairs = 12;

// Compares the job's two candidates; the first one's results are the yardstick. The runs of a pair follow each other
// directly, in alternating order. Errors: one of the two cannot be run, is wrong, crashes or hangs; no pair before the
// time is up.
Result<Compared> compare_in_worker(const WorkerJob& job, int pairs = kComparedPairs);

}  // namespace rung
