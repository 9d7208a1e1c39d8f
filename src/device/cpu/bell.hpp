// Lets threads sleep until something changes, and whoever changes it wake them; if none sleeps, that costs a load.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <cstdint>

namespace rung::cpu {

class Bell {
 public:
  // Sleeps while `unchanged()`, which must read with sequential consistency.
  template <class Unchanged>
  void sleep_while(Unchanged&& unchanged) {
    sleepers_.fetch_add(1);
    for (uint32_t heard = rings_.load(); unchanged(); heard = rings_.load()) rings_.wait(heard);
    sleepers_.fetch_sub(1);
  }

  // Call it after a change made with sequential consistency: then a sleeper either sees the change or is seen here.
  void ring() {
    if (sleepers_.load() == 0) return;
    rings_.fetch_add(1);
    rings_.notify_all();
  }

 private:
  std::atomic<uint32_t> rings_{0};
  std::atomic<int> sleepers_{0};
};

}  // namespace rung::cpu
