// The monotonic clock that all timings use.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstdint>

#include "base/status.hpp"

namespace rung {

inline int64_t steady_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// The clock that now_ns() reads: steady_ns, or a test's.
inline int64_t (*clock_ns)() = steady_ns;
inline int64_t now_ns() { return clock_ns(); }

// Seconds that f() takes.
template <class F>
double seconds_of(F&& f) {
  int64_t begin = now_ns();
  f();
  return static_cast<double>(now_ns() - begin) * 1e-9;
}

// Returns the seconds that f() takes, or the error of its Status: work that failed has no time.
template <class F>
Result<double> checked_seconds_of(F&& f) {
  Status done;
  double seconds = seconds_of([&] { done = f(); });
  RUNG_CHECK(std::move(done));
  return seconds;
}

}  // namespace rung
