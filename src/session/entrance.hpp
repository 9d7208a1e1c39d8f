// Admits one thread at a time into a session, and only in the process that opened it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <utility>

#include "base/forks.hpp"
#include "base/status.hpp"

namespace rung {

class Entrance {
 public:
  // Keeps the session entered for as long as it lives, however the call ends.
  class Stay {
   public:
    explicit Stay(std::atomic<bool>* taken) : taken_(taken) {}
    Stay(Stay&& other) noexcept : taken_(std::exchange(other.taken_, nullptr)) {}
    Stay& operator=(Stay&&) = delete;
    ~Stay() {
      if (taken_) taken_->store(false, std::memory_order_release);
    }

   private:
    std::atomic<bool>* taken_;
  };

  // Errors: wrong usage: another thread is inside, or this process was forked from the one that opened the session.
  Result<Stay> enter() {
    if (forked())
      return wrong_usage("this session was opened before this process was forked: open the model in the child");
    if (taken_.exchange(true, std::memory_order_acquire))
      return wrong_usage("this session is in use by another thread: give each thread a session of its own");
    return Stay(&taken_);
  }
  bool forked() const { return made_in_.another_process(); }

 private:
  std::atomic<bool> taken_{false};
  MadeIn made_in_;
};

}  // namespace rung
