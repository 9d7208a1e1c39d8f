// A process that measures candidates and sends its results, one message each.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sys/types.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/tensor.hpp"
#include "tune/trial_time.hpp"

namespace rung {

// The message that a worker sends per candidate and round.
struct TrialMessage {
  int index = 0;
  TrialTime time;         // none: the candidate could not run
  double error = 0;       // distance from the yardstick's results
  char reason[160] = {};  // the reason why it could not run; "" if it could
};

// Relative L2 distance of two f32 tensors.
double distance(const Tensor& got, const Tensor& want);
// The largest distance of several results, or NaN.
double distance(const std::vector<Tensor>& got, const std::vector<Tensor>& want);

// Owns a child process and the pipe end that receives its messages; the child dies with this object. In a process
// forked later, a copy owns no child.
class ChildProcess {
 public:
  ChildProcess() = default;
  ChildProcess(pid_t pid, int from) : pid_(pid), from_(from), owner_(getpid()) {}
  ~ChildProcess();
  ChildProcess(ChildProcess&& other) noexcept
      : pid_(std::exchange(other.pid_, -1)), from_(std::exchange(other.from_, -1)), owner_(other.owner_) {}
  ChildProcess& operator=(ChildProcess&& other) noexcept {
    std::swap(pid_, other.pid_), std::swap(from_, other.from_), std::swap(owner_, other.owner_);
    return *this;
  }

  // Returns the next message; nullopt when the child is done, dead or silent for so long: `failure` then says which,
  // and is empty after a normal end.
  std::optional<TrialMessage> receive(double hang_seconds, std::string& failure);

 private:
  std::string cause_of_death();
  pid_t pid_ = -1;
  int from_ = -1;
  pid_t owner_ = -1;
};

// The results of one run of candidates, one at a time.
class Worker {
 public:
  virtual ~Worker() = default;
  // Returns the next message; nullopt when the worker is done, dead or silent: see failure().
  virtual std::optional<TrialMessage> next(double hang_seconds) = 0;
  const std::string& failure() const { return failure_; }

 protected:
  std::string failure_;
};

}  // namespace rung
