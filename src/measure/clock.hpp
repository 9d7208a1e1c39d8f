// The monotonic clock that all timings use.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstdint>

namespace rung {

inline int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Seconds that f() takes.
template <class F>
double seconds_of(F&& f) {
  int64_t begin = now_ns();
  f();
  return static_cast<double>(now_ns() - begin) * 1e-9;
}

}  // namespace rung
