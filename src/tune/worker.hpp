// Runs candidates in a child process, so that a crash or hang affects only that candidate.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tune/candidates.hpp"
#include "tune/child_process.hpp"
#include "tune/trial_time.hpp"

namespace rung {

struct Measured {
  TrialTime time;
  std::string failure;  // the reason for no time: "crashed: Segmentation fault", "hung for 5 s", "wrong result: ..."
};

struct WorkerJob {
  const Target* target;
  const Problem& problem;
  const std::vector<KernelCandidate>& candidates;  // the first that runs is the yardstick for right results
  size_t working_set_bytes = 0;
  double seconds_each = 0.01;
  double hang_seconds = 5;
  std::function<bool()> out_of_time;  // asked between candidates; the remaining ones then fail with "no time left"
};

// Returns one entry per candidate. Each is timed in two rounds, in turn, and keeps the better median.
std::vector<Measured> measure_in_worker(const WorkerJob& job);

// Starts one run of candidates in the order of `indices`, which may repeat an index; each result is compared with that
// of candidate `yardstick`.
std::unique_ptr<Worker> start_worker(const WorkerJob& job, const std::vector<int>& indices, int yardstick);
// Returns the reason to exclude a candidate: it could not run, or its result is wrong; "" if there is none.
std::string reason_against(const TrialMessage& message, const Problem& problem);

}  // namespace rung
