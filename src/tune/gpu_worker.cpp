// The climb's side of a GPU worker: starts the program, writes jobs, reads messages.
// SPDX-License-Identifier: Apache-2.0
#include "tune/gpu_worker.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/program.hpp"
#include "base/signals.hpp"
#include "base/tool.hpp"
#include "tune/job_json.hpp"

namespace rung {
namespace {

constexpr double kStartSeconds = 20;  // opening a device and its libraries, before the first message

// The kept program. Its input is a socket of ours: a write after the program is gone raises no signal in this process,
// whose handlers may belong to others.
class WorkerProgram {
 public:
  static Result<std::shared_ptr<WorkerProgram>> start() {
    RUNG_TRY(const std::string tool, path_of_tool());
    std::array<int, 2> in{}, out{};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, in.data()) != 0)
      return fail("no worker process: {}", std::strerror(errno));
    if (pipe2(out.data(), O_CLOEXEC) != 0) {
      close(in[0]), close(in[1]);
      return fail("no worker process: {}", std::strerror(errno));
    }
    const SignalsHeld held;  // also held in the program: the climb decides when it ends
    auto pid = start_program(tool, {kWorkerCommand}, {.in = in[0], .out = out[1]});
    close(in[0]), close(out[1]);
    if (!pid) {
      close(in[1]), close(out[0]);
      return tl::unexpected(pid.error());
    }
    return std::shared_ptr<WorkerProgram>(new WorkerProgram(*pid, in[1], out[0]));
  }
  ~WorkerProgram() { close(to_); }
  WorkerProgram(const WorkerProgram&) = delete;
  WorkerProgram& operator=(const WorkerProgram&) = delete;

  bool send(std::string_view rest) {
    while (!rest.empty()) {
      const ssize_t sent = ::send(to_, rest.data(), rest.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent < 0) return false;
      rest.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
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

// Null before the first job, and after a failure. Each thread has its own, because the program ends with the thread
// that started it (serve_trials()).
std::shared_ptr<WorkerProgram>& kept() {
  static thread_local std::shared_ptr<WorkerProgram> program;
  return program;
}

class GpuWorker : public Worker {
 public:
  GpuWorker(const WorkerJob& job, const std::vector<int>& indices, int yardstick) : left_(indices.size()) {
    program_ = std::exchange(kept(), nullptr);  // returned when the job is done
    const std::string line = job_to_line({job.target->word(), job.problem, job.candidates, indices, yardstick,
                                          job.working_set_bytes, job.seconds_each}) +
                             '\n';
    if (program_ && program_->send(line)) return;
    program_ = nullptr;  // it ended since the last job, which no candidate caused
    auto started = WorkerProgram::start();
    if (started)
      program_ = std::move(*started);
    else
      failure_ = started.error().message;
    if (program_) program_->send(line);  // if the program ended at once, receive() reports how
  }
  ~GpuWorker() override {
    if (left_ == 0) kept() = std::move(program_);
  }
  GpuWorker(const GpuWorker&) = delete;
  GpuWorker& operator=(const GpuWorker&) = delete;

  std::optional<TrialMessage> next(double hang_seconds) override {
    if (!program_) {
      if (failure_.empty()) failure_ = "no worker process";
      return std::nullopt;
    }
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

void end_gpu_worker() { kept() = nullptr; }

}  // namespace rung
