// The worker's side of a GPU worker: reads jobs, runs candidates, writes messages.
// SPDX-License-Identifier: Apache-2.0
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "tune/gpu_trial.hpp"
#include "tune/gpu_worker.hpp"
#include "tune/job_json.hpp"

namespace rung {
namespace {

void put_reason(TrialMessage& message, const std::string& reason) {
  reason.copy(message.reason, sizeof message.reason - 1);
}

// Reports a row that refuses in the message; a failed device is no longer usable, and ends the worker.
Result<TrialMessage> run_candidate(const GpuTrialOperands& operands, const TrialJob& job, int index,
                                   const std::vector<Tensor>& yardstick) {
  TrialMessage message{.index = index};
  auto trial = GpuTrial::make(operands, job.candidates[static_cast<size_t>(index)]);
  using Results = Result<std::vector<Tensor>>;
  Results results = trial ? trial->results() : Results(tl::unexpected(trial.error()));
  RUNG_CHECK(operands.queue().wait());
  if (!results) return put_reason(message, results.error().message), message;
  message.error = distance(*results, yardstick);
  RUNG_TRY(message.time, trial->time(job.seconds_each));
  return message;
}

Status run_job(const TrialJob& job, const Target& target, int to) {
  RUNG_TRY(auto operands, GpuTrialOperands::make(target, job.problem, job.working_set_bytes));
  RUNG_TRY(GpuTrial first, GpuTrial::make(operands, job.candidates[static_cast<size_t>(job.yardstick)]));
  RUNG_TRY(std::vector<Tensor> yardstick, first.results());
  for (int index : job.indices) {
    RUNG_TRY(TrialMessage message, run_candidate(operands, job, index, yardstick));
    if (write(to, &message, sizeof message) != sizeof message) return fail("the climb is gone");
  }
  return {};
}

}  // namespace

Status serve_trials(int from, int to) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // no results are needed once the climb is gone
  FILE* input = fdopen(from, "r");
  if (!input) return fail("cannot read jobs");
  char* line = nullptr;
  size_t capacity = 0;
  Status status;
  while (status && getline(&line, &capacity, input) > 0) {
    status = [&]() -> Status {
      RUNG_TRY(const DeviceWord device, device_of_line(line));
      RUNG_TRY(const Target* target, open_target(device));
      if (!target->gpu) return fail("a worker program is for GPUs, got the device {}", device.word);
      RUNG_TRY(TrialJob job, job_from_line(line, *target));
      return run_job(job, *target, to);
    }();
  }
  free(line);
  fclose(input);
  return status;
}

}  // namespace rung
