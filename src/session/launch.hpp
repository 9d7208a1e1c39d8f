// Runs a kernel for both CPU recorders: no exception may leave a thread, and none may be handled within oneDNN's code.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <exception>

#include "kernels/cpu/kernel.hpp"
#include "plan/plan.hpp"

namespace rung {

// Runs one part of a launch and catches its exceptions; the other parts run whatever happens.
inline void launch_on_thread(void (*run)(const cpu::Call&), const cpu::Call& call) {
  try {
    run(call);
  } catch (const std::exception&) {
    call.fault->store(Fault::kernel_threw, std::memory_order_relaxed);
  }
}

// Returns whether the plan calls a library. oneDNN's calls hold signals (base/signals.hpp); holding them for a whole
// run costs one pair of system calls instead of one for each launch.
bool calls_library(const Plan& plan);

}  // namespace rung
