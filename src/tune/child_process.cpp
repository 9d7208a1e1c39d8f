// Waits for a child's messages and for its end.
// SPDX-License-Identifier: Apache-2.0
#include "tune/child_process.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstring>

namespace rung {

double distance(const Tensor& got, const Tensor& want) {
  double difference = 0, norm = 0;
  for (size_t i = 0; i < got.as<float>().size(); ++i) {
    double g = got.as<float>()[i], w = want.as<float>()[i];
    difference += (g - w) * (g - w);
    norm += w * w;
  }
  return std::sqrt(difference / std::max(norm, 1e-30));
}

double distance(const std::vector<Tensor>& got, const std::vector<Tensor>& want) {
  double most = 0;
  for (size_t i = 0; i < got.size() && !std::isnan(most); ++i) {
    const double next = distance(got[i], want[i]);
    if (!(next <= most)) most = next;
  }
  return most;
}

ChildProcess::~ChildProcess() {
  if (from_ >= 0) close(from_);
  if (pid_ > 0 && owner_ == getpid()) kill(pid_, SIGKILL), waitpid(pid_, nullptr, 0);
}

std::optional<TrialMessage> ChildProcess::receive(double hang_seconds, std::string& failure) {
  pollfd ready{from_, POLLIN, 0};
  int polled = 0;
  do polled = poll(&ready, 1, static_cast<int>(hang_seconds * 1000));
  while (polled < 0 && errno == EINTR);
  TrialMessage message;
  if (polled > 0 && read(from_, &message, sizeof message) == sizeof message) return message;
  failure = polled == 0 ? fmt::format("hung for {} s", hang_seconds) : cause_of_death();
  return std::nullopt;
}

std::string ChildProcess::cause_of_death() {
  int status = 0;
  if (pid_ <= 0 || waitpid(pid_, &status, 0) < 0) return "no worker process";
  pid_ = -1;
  if (WIFSIGNALED(status)) return fmt::format("crashed: {}", strsignal(WTERMSIG(status)));
  return WEXITSTATUS(status) == 0 ? "" : fmt::format("worker exited with {}", WEXITSTATUS(status));
}

}  // namespace rung
