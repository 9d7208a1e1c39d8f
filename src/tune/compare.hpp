// Two candidates of a problem timed in turns, in a worker process: how many times longer the one takes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "measure/statistics.hpp"
#include "tune/worker.hpp"

namespace rung {

struct Compared {
  double first_us = 0, second_us = 0;  // medians
  RatioEstimate ratio;                 // of the first's time to the second's
};

inline constexpr int kComparedPairs = 12;

// The job's two candidates; the first is the yardstick of right results. Each pair is taken as neighbours in time, in
// alternating order. Errors: one of the two cannot be run, is wrong, crashes or hangs; no pair before the time is up.
Result<Compared> compare_in_worker(const WorkerJob& job, int pairs = kComparedPairs);

}  // namespace rung
