// Runs GPU candidates in a separate program: a fault ends that program's context, not the climb's.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "tune/child_process.hpp"
#include "tune/worker.hpp"

namespace rung {

// The word that makes the tool a worker: it reads jobs from standard input and writes messages to standard output.
inline constexpr const char* kWorkerCommand = "tune-worker";

// Gives the job to a program that the calling thread keeps from job to job and starts again after a failure: the tool
// (base/tool.hpp), which understands kWorkerCommand.
std::unique_ptr<Worker> start_gpu_worker(const WorkerJob& job, const std::vector<int>& indices, int yardstick);

// Ends the calling thread's program, if it has one: the program holds device memory.
void end_gpu_worker();

// Runs in the program: measures job after job until standard input ends. Errors: no such device, a job that cannot be
// read, a failed device: the candidate under test is to blame.
Status serve_trials(int from, int to);

}  // namespace rung
