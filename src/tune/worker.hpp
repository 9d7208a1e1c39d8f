// Runs candidates in a child process, so that one that crashes or hangs costs itself only.
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
  std::string failure;  // why there is none: "crashed: Segmentation fault", "hung for 5 s", "wrong result: ..."
};

struct WorkerJob {
  const Target* target;
  const Problem& problem;
  const std::vector<KernelCandidate>& candidates;  // the first that runs is the yardstick for right results
  size_t working_set_bytes = 0;
  double seconds_each = 0.01;
  double hang_seconds = 5;
  std::function<bool()> out_of_time;  // asked between candidates; those left then fail with "no time left"
};

// One entry per candidate. Each is timed in two rounds, in turn, and keeps the one with the better median.
std::vector<Measured> measure_in_worker(const WorkerJob& job);

// One run of candidates in the order of `indices`, which may name one several times, each result compared with that of
// candidate `yardstick`.
std::unique_ptr<Worker> start_worker(const WorkerJob& job, const std::vector<int>& indices, int yardstick);
// Why a candidate is out: it could not be run, or its result is wrong; "" where it is not.
std::string reason_against(const TrialMessage& message, const Problem& problem);

}  // namespace rung
