// Sequences of runs from the same start, again and again: are all the same, and does memory grow?
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>

#include "base/interrupted.hpp"
#include "session/set_session.hpp"

namespace rung::tasks {

struct Replays {
  int64_t count = 0;  // done
  bool interrupted = false;
  std::string difference;      // of the first replay that gave other bits: which, and in which output; empty: none
  double resident_growth = 0;  // bytes of this process, after the last replay less after the first
  double device_growth = 0;    // bytes of the device's memory taken meanwhile, by any process; 0 on a CPU
};

// The inputs of each plan have been set. A replay runs each plan once, in order, or three times where it has states,
// from their initial values on. Ends early, after the replay that it is at, where it is interrupted. Errors: those of a
// run.
Result<Replays> replay(SetSession& session, int64_t count, const Interrupted& interrupted = {});

}  // namespace rung::tasks
