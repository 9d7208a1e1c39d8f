// One run, and what it took: by the host's clock, or counted where a device has no time.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "session/session.hpp"

namespace rung {

// Seconds from the call until the run is complete. On a device that counts instructions (GpuInfo::counts_instructions):
// the run's count in the same place, kInstructionsPerMs as a millisecond, and at least one. Errors: the run's.
Result<double> timed_run(Session& session);

}  // namespace rung
