// A clock that stands still but for what a test, or a scripted kernel, says has passed.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/random.hpp"
#include "measure/clock.hpp"
#include "measure/processor_time.hpp"

namespace rung::scripted {

// now_ns() reads it while one is alive, and processor_sample() tells that nobody took the processor but as scripted.
class Clock {
 public:
  Clock() {
    now() = 0, draws() = 0, taken() = 0;
    clock_ns = [] { return now(); };
    processor_sample = [] { return ProcessorSample{now(), now() - taken(), 0}; };
  }
  ~Clock() { clock_ns = steady_ns, processor_sample = read_processor_sample; }
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  static void pass_us(double us) { now() += static_cast<int64_t>(us * 1e3); }
  // The same, in which another program has the processor.
  static void take_us(double us) { pass_us(us), taken() += static_cast<int64_t>(us * 1e3); }
  // In [0, 1), another one every time, the same ones for every clock.
  static double draw() { return double{random_uniform(1, draws()++)}; }

 private:
  static int64_t& now() {
    static int64_t ns = 0;
    return ns;
  }
  static int64_t& taken() {
    static int64_t ns = 0;
    return ns;
  }
  static uint64_t& draws() {
    static uint64_t count = 0;
    return count;
  }
};

}  // namespace rung::scripted
