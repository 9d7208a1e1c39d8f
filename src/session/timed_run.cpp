// Takes a device's own count from the recorder.
// SPDX-License-Identifier: Apache-2.0
#include "session/timed_run.hpp"

#include <algorithm>
#include <optional>

#include "measure/clock.hpp"

namespace rung {
namespace {

constexpr size_t kSmall = 4096;  // bytes: copying caches would take longer than the run

Result<NamedTensors> small_states(Session& session) {
  NamedTensors values;
  for (const PlanState& state : session.plan().states) {
    if (state.type.bytes() > kSmall || state.initial == Initial::nothing) continue;
    RUNG_TRY(values[state.name], session.state(state.name));
  }
  return values;
}

}  // namespace

Result<double> timed_run(Session& session) {
  RUNG_TRY(const NamedTensors before, small_states(session));
  RUNG_TRY(double seconds, checked_seconds_of([&] { return session.run(); }));
  for (const auto& [name, value] : before) RUNG_CHECK(session.set_state(name, value));
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
