// Runs candidates of a GPU in a program of its own: a fault there ends that program's context, not the climb's.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "tune/child_process.hpp"
#include "tune/worker.hpp"

namespace rung {

// The word that makes the tool a worker: it reads jobs from standard input and writes messages to standard output.
inline constexpr const char* kWorkerCommand = "tune-worker";

// Hands the job to a program that the calling thread keeps from job to job, and that is started again after a failure:
// the tool (base/tool.hpp), which understands kWorkerCommand.
std::unique_ptr<Worker> start_gpu_worker(const WorkerJob& job, const std::vector<int>& indices, int yardstick);

// Ends the calling thread's program, if it has one: it holds memory of the device.
void end_gpu_worker();

// The program's part: measures job after job until standard input ends. Errors: no such device, a job that cannot be
// read, a device that failed: the candidate under test is to blame.
Status serve_trials(int from, int to);

}  // namespace rung
