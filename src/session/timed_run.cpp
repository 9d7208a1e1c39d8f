// Takes a device's own count from the recorder.
// SPDX-License-Identifier: Apache-2.0
#include "session/timed_run.hpp"

#include <algorithm>
#include <optional>

#include "measure/clock.hpp"
#include "session/held_states.hpp"

namespace rung {
Result<double> timed_run(Session& session) {
  RUNG_TRY(const HeldStates before, HeldStates::of(session));
  RUNG_TRY(double seconds, checked_seconds_of([&] { return session.run(); }));
  RUNG_CHECK(before.restore());
  if (!session.plan().target->machine.gpu.counts_instructions) return seconds;
  return std::max(session.recorder().device_ms().value_or(0), 1 / gpu::kInstructionsPerMs) * 1e-3;
}

std::function<Result<double>()> timed_runs(Session& session) {
  if (!session.plan().target->machine.gpu.counts_instructions) return [&session] { return timed_run(session); };
  return [&session, known = std::optional<double>()]() mutable -> Result<double> {
    if (!known) {
      RUNG_TRY(known, timed_run(session));
    }
    return *known;
  };
}

}  // namespace rung
