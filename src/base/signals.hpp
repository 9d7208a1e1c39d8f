// Threads that handle no signals: rung's own, and a caller's while a library's machine code runs on it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <csignal>

namespace rung {

// While an object lives, the thread that made it handles no signals but its own faults (SIGSEGV and the like): signals
// wait, or another thread handles them. Threads and programs started meanwhile begin like that and stay so. A nested
// object costs no system call. It must end on the thread that made it.
class SignalsHeld {
 public:
  SignalsHeld();
  ~SignalsHeld();
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

 private:
  sigset_t before_;
};

}  // namespace rung
