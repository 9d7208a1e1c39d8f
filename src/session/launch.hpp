// The steps that both recorders of a processor take around a kernel: nothing may be thrown out of a thread, nor handled
// within oneDNN's code.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <exception>

#include "kernels/cpu/kernel.hpp"
#include "plan/plan.hpp"

namespace rung {

// One part of a launch. The others are done whatever happens.
inline void launch_on_thread(void (*run)(const cpu::Call&), const cpu::Call& call) {
  try {
    run(call);
  } catch (const std::exception&) {
    call.fault->store(Fault::kernel_threw, std::memory_order_relaxed);
  }
}

// Does the plan call a library? oneDNN's calls hold signals (base/signals.hpp); held for a whole run, they cost one
// pair of system calls instead of one for each launch.
bool calls_library(const Plan& plan);

}  // namespace rung
