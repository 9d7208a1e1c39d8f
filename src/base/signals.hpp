// Threads that handle no signals: those that rung starts, and a caller's while a library's machine code runs on it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <csignal>

namespace rung {

// While it lives, the thread that made it handles no signal but those of its own faults (SIGSEGV and the like): signals
// wait, or another thread handles them. Threads and programs started meanwhile begin like that and stay so. One inside
// another costs no system call. It ends on the thread that made it.
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
