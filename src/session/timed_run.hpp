// One run, and what it took: by the host's clock, or counted where a device has no time.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>

#include "session/session.hpp"

namespace rung {

// Seconds from the call until the run is complete. On a device that counts instructions (GpuInfo::counts_instructions):
// the run's count in the same place, kInstructionsPerMs as a millisecond, and at least one. Errors: the run's.
Result<double> timed_run(Session& session);

// timed_run() again and again, for as long as `session` lives. Where instructions are counted all runs have one count:
// the first tells it for those after it, which do not run.
std::function<Result<double>()> timed_runs(Session& session);

}  // namespace rung
