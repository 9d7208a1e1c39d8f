// Writes a tuning job as one line of text, for a worker in a separate program.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "tune/candidates.hpp"

namespace rung {

// The job of a worker process: candidates of one problem, in the order of `indices`, each compared with the result of
// candidate `yardstick`.
struct TrialJob {
  DeviceWord device;
  Problem problem;
  std::vector<KernelCandidate> candidates;
  std::vector<int> indices;
  int yardstick = 0;
  size_t working_set_bytes = 0;
  double seconds_each = 0;
};

std::string job_to_line(const TrialJob& job);  // without newlines
// Returns the device that the line names, which is opened before the job is read. Errors: not such a line.
Result<DeviceWord> device_of_line(const std::string& line);
// Errors: not such a line; a kernel that the target does not have.
Result<TrialJob> job_from_line(const std::string& line, const Target& target);

}  // namespace rung
