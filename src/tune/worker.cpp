// Runs the candidates of a job in workers: forked processes for the CPU, a separate program for a GPU. A dead or silent
// worker is replaced.
// SPDX-License-Identifier: Apache-2.0
#include "tune/worker.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <stdexcept>

#include "base/signals.hpp"
#include "tune/child_process.hpp"
#include "tune/gpu_worker.hpp"
#include "tune/trial.hpp"

namespace rung {
namespace {

bool narrow(const Problem& problem) {
  for (const auto& input : problem.inputs)
    if (is_narrow(input.dtype)) return true;
  const auto results = results_of(problem);
  return std::any_of(results.begin(), results.end(),
                     [](const ResultPlace& result) { return is_narrow(result.type.dtype); });
}

void run_candidates(const WorkerJob& job, const std::vector<int>& indices, int yardstick_index, int fd) {
  cpu::Team team(job.problem.threads);
  TrialOperands operands(job.problem);
  const auto yardstick = Trial(operands, job.candidates[static_cast<size_t>(yardstick_index)], 0).results(team);
  for (int index : indices) {
    Trial trial(operands, job.candidates[static_cast<size_t>(index)], job.working_set_bytes);
    TrialMessage message{.index = index, .error = distance(trial.results(team), yardstick)};
    message.time = trial.time(team, job.seconds_each);
    if (write(fd, &message, sizeof message) != sizeof message) throw std::runtime_error("the climb is gone");
  }
}

// Runs in the child. Never returns, and lets no exception reach the copy of the parent's code.
[[noreturn]] void work(const WorkerJob& job, const std::vector<int>& indices, int yardstick_index, int fd) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // no results are needed once the parent is gone
  // Fault handlers belong to the climbing program, and would take a candidate's crash for its own.
  for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS}) signal(fault, SIG_DFL);
  try {
    run_candidates(job, indices, yardstick_index, fd);
  } catch (...) {
    _exit(1);
  }
  _exit(0);
}

// A child of this process with a copy of its memory, for one run of candidates.
class ForkedWorker : public Worker {
 public:
  // Results are compared with those of candidate `yardstick`.
  ForkedWorker(const WorkerJob& job, const std::vector<int>& indices, int yardstick) {
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) != 0) return;
    const SignalsHeld held;  // the child keeps signals held: the parent decides when a climb ends
    pid_t pid = fork();
    if (pid == 0) {
      close(fds[0]);
      work(job, indices, yardstick, fds[1]);
    }
    close(fds[1]);
    child_ = ChildProcess(pid, fds[0]);
  }
  std::optional<TrialMessage> next(double hang_seconds) override { return child_.receive(hang_seconds, failure_); }

 private:
  ChildProcess child_;
};

void take(const TrialMessage& message, const Problem& problem, Measured& to) {
  if (std::string reason = reason_against(message, problem); !reason.empty())
    to = {{}, std::move(reason)};
  else if (to.failure.empty() && (to.time.us == 0 || message.time.us < to.time.us))
    to.time = message.time;
}

// Runs the candidates of one round; a candidate that kills the worker is marked and the rest go to a new worker.
void run_round(const WorkerJob& job, std::vector<Measured>& results) {
  std::vector<int> left;
  for (size_t i = 0; i < results.size(); ++i)
    if (results[i].failure.empty()) left.push_back(static_cast<int>(i));
  while (!left.empty()) {
    if (job.out_of_time && job.out_of_time()) return;
    auto sound = std::find_if(results.begin(), results.end(), [](const Measured& m) { return m.failure.empty(); });
    auto worker = start_worker(job, left, static_cast<int>(sound - results.begin()));
    while (!left.empty()) {
      auto message = worker->next(job.hang_seconds);
      if (!message) {
        results[static_cast<size_t>(left.front())] = {{},
                                                      worker->failure().empty() ? "ended early" : worker->failure()};
        left.erase(left.begin());
        break;
      }
      take(*message, job.problem, results[static_cast<size_t>(message->index)]);
      std::erase(left, message->index);
      if (job.out_of_time && job.out_of_time()) return;
    }
  }
}

}  // namespace

std::unique_ptr<Worker> start_worker(const WorkerJob& job, const std::vector<int>& indices, int yardstick) {
  if (job.target->gpu) return start_gpu_worker(job, indices, yardstick);
  return std::make_unique<ForkedWorker>(job, indices, yardstick);
}

std::string reason_against(const TrialMessage& message, const Problem& problem) {
  if (message.reason[0]) return message.reason;
  if (message.error <= (narrow(problem) ? 2e-2 : 1e-4)) return "";
  return fmt::format("wrong result: relative L2 {:.2g} from the default's", message.error);
}

std::vector<Measured> measure_in_worker(const WorkerJob& job) {
  std::vector<Measured> results(job.candidates.size());
  for (int round = 0; round < 2; ++round) run_round(job, results);
  for (auto& result : results)
    if (result.time.us == 0 && result.failure.empty()) result.failure = "no time left";
  return results;
}

}  // namespace rung
