// Which threads of this process would handle a signal, as the system tells it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

namespace rung {

// On the calling thread.
inline bool is_held(int signal) {
  sigset_t mask;
  pthread_sigmask(SIG_BLOCK, nullptr, &mask);
  return sigismember(&mask, signal) == 1;
}

inline int count_threads() {
  int count = 0;
  for ([[maybe_unused]] const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) ++count;
  return count;
}

// Threads that have not blocked it, the calling one among them.
inline int threads_that_handle(int signal) {
  int count = 0;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream status(thread.path() / "status");
    for (std::string line; std::getline(status, line);)
      if (line.starts_with("SigBlk:")) count += (std::stoull(line.substr(7), nullptr, 16) >> (signal - 1) & 1) == 0;
  }
  return count;
}

}  // namespace rung
