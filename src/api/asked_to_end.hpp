// Asks a caller whether work goes on, no more often than a callback is worth.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/interrupted.hpp"
#include "measure/clock.hpp"

namespace rung {

// The caller is not asked again once goes_on() returned false.
inline Interrupted asked_to_end(bool (*goes_on)(void*), void* context) {
  if (!goes_on) return {};
  return [goes_on, context, asked_ns = int64_t{0}, ended = false]() mutable {
    constexpr int64_t kEvery = 50'000'000;  // ns
    if (ended || now_ns() - asked_ns < kEvery) return ended;
    ended = !goes_on(context);
    asked_ns = now_ns();
    return ended;
  };
}

}  // namespace rung
