// The child counts the fork, as the first thing that it does.
// SPDX-License-Identifier: Apache-2.0
#include "base/forks.hpp"

#include <pthread.h>

#include <atomic>

namespace rung {
namespace {

std::atomic<uint64_t> forks{0};

// Registers the fork handler. Without memory for it, forks go unseen, as they would if nobody had asked.
bool watch_forks() {
  return pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); }) == 0;
}

}  // namespace

uint64_t fork_generation() {
  static const bool watched = watch_forks();
  (void)watched;
  return forks.load(std::memory_order_relaxed);
}

}  // namespace rung
