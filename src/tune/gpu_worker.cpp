// The climb's end of a GPU worker: starts the program, writes jobs, reads messages.
// SPDX-License-Identifier: Apache-2.0
#include "tune/gpu_worker.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "base/program.hpp"
#include "base/signals.hpp"
#include "tune/job_json.hpp"

namespace rung {
namespace {

constexpr double kStartSeconds = 20;  // opening a device and its libraries, before the first message

// The kept program. Its input is a pipe of ours; one that is gone must not end this process by a signal.
class WorkerProgram {
 public:
  static std::shared_ptr<WorkerProgram> start() {
    std::array<int, 2> in{}, out{};
    if (pipe2(in.data(), O_CLOEXEC) != 0) return nullptr;
    if (pipe2(out.data(), O_CLOEXEC) != 0) return close(in[0]), close(in[1]), nullptr;
    const SignalsHeld held;  // in the program, too: the climb decides when it ends
    auto pid = start_program(kThisProgram, {kWorkerCommand}, {.in = in[0], .out = out[1]});
    close(in[0]), close(out[1]);
    if (!pid) return close(in[1]), close(out[0]), nullptr;
    return std::shared_ptr<WorkerProgram>(new WorkerProgram(*pid, in[1], out[0]));
  }
  ~WorkerProgram() { close(to_); }
  WorkerProgram(const WorkerProgram&) = delete;
  WorkerProgram& operator=(const WorkerProgram&) = delete;

  bool send(std::string line) {
    line += '\n';
    auto before = signal(SIGPIPE, SIG_IGN);
    bool sent = write(to_, line.data(), line.size()) == static_cast<ssize_t>(line.size());
    signal(SIGPIPE, before);
    return sent;
  }
  std::optional<TrialMessage> receive(double seconds, std::string& failure) {
    auto message = child_.receive(fresh_ ? seconds + kStartSeconds : seconds, failure);
    fresh_ = false;
    return message;
  }

 private:
  WorkerProgram(pid_t pid, int to, int from) : child_(pid, from), to_(to) {}
  ChildProcess child_;
  int to_;
  bool fresh_ = true;
};

// Null before the first job, and after a failure.
std::shared_ptr<WorkerProgram>& kept() {
  static std::shared_ptr<WorkerProgram> program;
  return program;
}

class GpuWorker : public Worker {
 public:
  GpuWorker(const WorkerJob& job, const std::vector<int>& indices, int yardstick) : left_(indices.size()) {
    program_ = std::exchange(kept(), nullptr);  // given back when the job is done
    if (!program_) program_ = WorkerProgram::start();
    if (!program_) return;
    std::string line = job_to_line(
        {job.target->name, job.problem, job.candidates, indices, yardstick, job.working_set_bytes, job.seconds_each});
    if (!program_->send(std::move(line))) program_ = nullptr;
  }
  ~GpuWorker() override {
    if (left_ == 0) kept() = std::move(program_);
  }
  GpuWorker(const GpuWorker&) = delete;
  GpuWorker& operator=(const GpuWorker&) = delete;

  std::optional<TrialMessage> next(double hang_seconds) override {
    if (!program_) return failure_ = "no worker process", std::nullopt;
    auto message = program_->receive(hang_seconds, failure_);
    if (message)
      --left_;
    else
      program_ = nullptr;
    return message;
  }

 private:
  std::shared_ptr<WorkerProgram> program_;
  size_t left_;
};

}  // namespace

std::unique_ptr<Worker> start_gpu_worker(const WorkerJob& job, const std::vector<int>& indices, int yardstick) {
  return std::make_unique<GpuWorker>(job, indices, yardstick);
}

}  // namespace rung
