// Changes the thread's signal mask, in the outermost holder alone.
// SPDX-License-Identifier: Apache-2.0
#include "base/signals.hpp"

#include <initializer_list>

namespace rung {
namespace {

thread_local int t_holders = 0;

// Returns all signals but faults of the thread itself: held back, they would end the process without its handler.
sigset_t all_but_faults() {
  sigset_t set;
  sigfillset(&set);
  for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS}) sigdelset(&set, fault);
  return set;
}

}  // namespace

SignalsHeld::SignalsHeld() {
  if (t_holders++ > 0) return;
  static const sigset_t kHeld = all_but_faults();
  pthread_sigmask(SIG_BLOCK, &kHeld, &before_);
}

SignalsHeld::~SignalsHeld() {
  if (--t_holders == 0) pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace rung
