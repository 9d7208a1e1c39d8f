// Times one run by the host's clock, or counts instructions where a device has no time.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>

#include "session/session.hpp"

namespace rung {

// Returns the seconds from the call until the run is complete. Small states, such as the position in a text, are then
// what they were before, so that a run may be timed any number of times: a text would outgrow its caches. For a device that counts instructions
// (GpuInfo::counts_instructions), kInstructionsPerMs count as a millisecond, at least one. Errors: the run's.
Result<double> timed_run(Session& session);

// Returns a function that calls timed_run(), valid as long as `session` lives. Where instructions are counted all runs
// have the same count: the first call runs, later ones return its count without a run.
std::function<Result<double>()> timed_runs(Session& session);

}  // namespace rung
