// Holds the workers of teams before they claim anything, as if others had taken their cores.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <chrono>
#include <thread>

#include "device/cpu/team.hpp"

namespace rung {

// While it lives. The teams are made with `hold` and end after it.
class HeldWorkers {
 public:
  HeldWorkers() { held() = true; }
  ~HeldWorkers() { held() = false; }
  HeldWorkers(const HeldWorkers&) = delete;
  HeldWorkers& operator=(const HeldWorkers&) = delete;

  static void hold(int /*thread*/) {
    while (held()) std::this_thread::sleep_for(std::chrono::microseconds(50));
  }

 private:
  static std::atomic<bool>& held() {
    static std::atomic<bool> any{false};
    return any;
  }
};

}  // namespace rung
