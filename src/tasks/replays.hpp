// Replays of one plan on one set of inputs: are all the same, and does memory grow?
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>

#include "base/interrupted.hpp"
#include "session/session.hpp"

namespace rung::tasks {

struct Replays {
  int64_t count = 0;  // done
  bool interrupted = false;
  std::string difference;      // of the first replay that gave other bits: which, and in which output; empty: none
  double resident_growth = 0;  // bytes of this process, after the last replay less after the first
  double device_growth = 0;    // bytes of the device's memory taken meanwhile, by any process; 0 on a CPU
};

// The inputs have been set. Ends early, after the replay that it is at, where it is interrupted. Errors: those of a
// run.
Result<Replays> replay(Session& session, int64_t count, const Interrupted& interrupted = {});

}  // namespace rung::tasks
