// Forks a worker per run of candidates; results come back over a pipe, a dead or silent worker is replaced.
// SPDX-License-Identifier: Apache-2.0
#include "gemm/worker.hpp"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstring>
#include <memory>
#include <optional>

#include "gemm/trial.hpp"

namespace rung {
namespace {

// What the worker sends per candidate and round.
struct Message {
  int index = 0;
  double us = 0;
  double error = 0;  // relative L2 distance from the yardstick's result
};

double relative_l2(const Tensor& got, const Tensor& want) {
  double difference = 0, norm = 0;
  for (size_t i = 0; i < got.as<float>().size(); ++i) {
    double g = got.as<float>()[i], w = want.as<float>()[i];
    difference += (g - w) * (g - w);
    norm += w * w;
  }
  return std::sqrt(difference / std::max(norm, 1e-30));
}

bool narrow(const Problem& problem) {
  for (const auto& input : problem.inputs)
    if (input.dtype == DType::bf16 || input.dtype == DType::f16) return true;
  return problem.output.dtype == DType::bf16 || problem.output.dtype == DType::f16;
}

// In the child. Never returns.
[[noreturn]] void work(const WorkerJob& job, const std::vector<int>& indices, int yardstick_index, int fd) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // a parent that is gone needs no results
  signal(SIGINT, SIG_IGN);           // the parent decides when a climb ends
  cpu::Team team(job.problem.threads);
  TrialOperands operands(job.problem);
  Tensor yardstick = Trial(operands, job.candidates[static_cast<size_t>(yardstick_index)], 0).result(team);
  for (int index : indices) {
    Trial trial(operands, job.candidates[static_cast<size_t>(index)], job.working_set_bytes);
    Message message{index, 0, relative_l2(trial.result(team), yardstick)};
    message.us = trial.median_us(team, job.seconds_each);
    if (write(fd, &message, sizeof message) != sizeof message) _exit(1);
  }
  _exit(0);
}

class Worker {
 public:
  // Results are compared with candidate `yardstick`'s.
  Worker(const WorkerJob& job, const std::vector<int>& indices, int yardstick) {
    int fds[2];
    if (pipe(fds) != 0) return;
    pid_ = fork();
    if (pid_ == 0) {
      close(fds[0]);
      work(job, indices, yardstick, fds[1]);
    }
    close(fds[1]);
    fd_ = fds[0];
  }
  ~Worker() {
    if (fd_ >= 0) close(fd_);
    if (pid_ > 0) kill(pid_, SIGKILL), waitpid(pid_, nullptr, 0);
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // The next message; nullopt when the worker is done, dead or silent: see failure().
  std::optional<Message> next(double hang_seconds) {
    pollfd ready{fd_, POLLIN, 0};
    int polled = 0;
    do polled = poll(&ready, 1, static_cast<int>(hang_seconds * 1000));
    while (polled < 0 && errno == EINTR);
    Message message;
    if (polled > 0 && read(fd_, &message, sizeof message) == sizeof message) return message;
    failure_ = polled == 0 ? fmt::format("hung for {} s", hang_seconds) : cause_of_death();
    return std::nullopt;
  }
  const std::string& failure() const { return failure_; }

 private:
  std::string cause_of_death() {
    int status = 0;
    if (pid_ <= 0 || waitpid(pid_, &status, 0) < 0) return "no worker process";
    pid_ = -1;
    if (WIFSIGNALED(status)) return fmt::format("crashed: {}", strsignal(WTERMSIG(status)));
    return WEXITSTATUS(status) == 0 ? "" : fmt::format("worker exited with {}", WEXITSTATUS(status));
  }
  pid_t pid_ = -1;
  int fd_ = -1;
  std::string failure_;
};

void take(const Message& message, double tolerance, Measured& to) {
  if (!(message.error <= tolerance))
    to = {0, fmt::format("wrong result: relative L2 {:.2g} from the default's", message.error)};
  else if (to.failure.empty() && (to.us == 0 || message.us < to.us))
    to.us = message.us;
}

// Runs the candidates of one round; a candidate that kills the worker is marked and the rest go to a new one.
void run_round(const WorkerJob& job, std::vector<Measured>& results) {
  std::vector<int> left;
  for (size_t i = 0; i < results.size(); ++i)
    if (results[i].failure.empty()) left.push_back(static_cast<int>(i));
  double tolerance = narrow(job.problem) ? 2e-2 : 1e-4;
  while (!left.empty()) {
    if (job.out_of_time && job.out_of_time()) return;
    auto sound = std::find_if(results.begin(), results.end(), [](const Measured& m) { return m.failure.empty(); });
    Worker worker(job, left, static_cast<int>(sound - results.begin()));
    while (!left.empty()) {
      auto message = worker.next(job.hang_seconds);
      if (!message) {
        results[static_cast<size_t>(left.front())] = {0, worker.failure().empty() ? "ended early" : worker.failure()};
        left.erase(left.begin());
        break;
      }
      take(*message, tolerance, results[static_cast<size_t>(message->index)]);
      std::erase(left, message->index);
      if (job.out_of_time && job.out_of_time()) return;
    }
  }
}

}  // namespace

std::vector<Measured> measure_in_worker(const WorkerJob& job) {
  std::vector<Measured> results(job.candidates.size());
  for (int round = 0; round < 2; ++round) run_round(job, results);
  for (auto& result : results)
    if (result.us == 0 && result.failure.empty()) result.failure = "no time left";
  return results;
}

}  // namespace rung
