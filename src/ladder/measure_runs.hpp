// Latency of a session at a cadence, with the device's clocks and power meanwhile.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <limits>

#include "base/interrupted.hpp"
#include "ladder/result.hpp"
#include "ladder/schedule.hpp"
#include "session/session.hpp"

namespace rung {

struct Cadence {
  double rate_hz = 0;  // 0: back to back; else each run starts at its turn, or at once when the one before took longer
  int runs = static_cast<int>(kSchedule.timed_runs);
  double seconds = std::numeric_limits<double>::infinity();  // whichever ends first, but one run at least
  Interrupted interrupted = {};                              // that ends it, too, after the run that it is at
};

// Inputs must be set; one run before the first is not timed. A GPU goes on running after the last timed run until its
// sensors have had a second: they are slower than that. Errors: the first of a run, timed or not.
Result<LoadedRuns> measure_runs(Session& session, const Cadence& cadence);

}  // namespace rung
