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
  double rate_hz = 0;  // 0: back to back; else each run starts at its turn, or at once if the one before took longer
  int runs = static_cast<int>(kSchedule.timed_runs);
  double seconds = std::numeric_limits<double>::infinity();  // whichever ends first, but one run at least
  Interrupted interrupted = {};                              // ends it too, after the run under way
};

// Measures runs. Inputs must be set; one run before the first is not timed. A GPU goes on running after the last timed
// run until its sensors have had a second, because they are slower. Errors: the first of a run, timed or not.
Result<LoadedRuns> measure_runs(Session& session, const Cadence& cadence);

}  // namespace rung
