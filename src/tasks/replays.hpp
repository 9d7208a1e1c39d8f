// Repeats sequences of runs from the same start: checks whether all give the same bits, and whether memory grows.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>

#include "base/interrupted.hpp"
#include "session/set_session.hpp"

namespace rung::tasks {

struct Replays {
  int64_t count = 0;  // replays done
  bool interrupted = false;
  std::string difference;      // the first replay with other bits, and the output concerned; empty: none
  double resident_growth = 0;  // bytes of this process, last replay minus first
  double device_growth = 0;    // bytes of device memory taken meanwhile, by any process; 0 on a CPU
};

inline constexpr int64_t kMostReplays = 1'000'000'000;

// The inputs of each plan must be set. A replay runs each plan once, in order, or three times if it has states,
// starting from their initial values. If interrupted, it ends after the current replay. Errors: those of a run.
Result<Replays> replay(SetSession& session, int64_t count, const Interrupted& interrupted = {});

}  // namespace rung::tasks
