// Times runs at their turns, by the host's clock.
// SPDX-License-Identifier: Apache-2.0
#include "ladder/measure_runs.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <thread>

#include "device/gpu/load_watch.hpp"
#include "measure/clock.hpp"
#include "measure/statistics.hpp"
#include "session/held_states.hpp"
#include "session/timed_run.hpp"

namespace rung {
namespace {

// Runs at their turns, with the milliseconds of each.
class Turns {
 public:
  explicit Turns(const Cadence& cadence)
      : period_(cadence.rate_hz > 0 ? std::llround(1e9 / cadence.rate_hz) : 0), interrupted_(cadence.interrupted) {}
  double spent() const { return static_cast<double>(now_ns() - begin_) * 1e-9; }
  Result<double> time(Session& session) const {
    RUNG_TRY(double seconds, timed_run(session));
    return seconds * 1e3;
  }
  // Waits for the next turn; false: the caller wants the end. It waits in naps and asks between them: a turn may be
  // minutes away.
  bool comes() {
    constexpr std::chrono::milliseconds kNap(50);
    due_ += period_;
    while (period_.count() > 0 && Clock::now() < due_ && !wants_end(interrupted_))
      std::this_thread::sleep_until(std::min(due_, Clock::now() + kNap));
    return !wants_end(interrupted_);
  }

 private:
  using Clock = std::chrono::steady_clock;
  std::chrono::nanoseconds period_;
  const Interrupted& interrupted_;
  Clock::time_point due_ = Clock::now();
  int64_t begin_ = now_ns();
};

}  // namespace

Result<LoadedRuns> measure_runs(Session& session, const Cadence& cadence) {
  RUNG_TRY(const HeldStates held, HeldStates::of(session));
  RUNG_CHECK(session.run());
  RUNG_CHECK(held.restore());
  std::optional<gpu::LoadWatch> watch;
  if (session.plan().target->gpu) watch.emplace(*session.plan().target->gpu);
  Turns turns(cadence);
  std::vector<double> ms;
  do {
    RUNG_TRY(ms.emplace_back(), turns.time(session));
  } while (static_cast<int>(ms.size()) < cadence.runs && turns.spent() < cadence.seconds && turns.comes());
  int runs = static_cast<int>(ms.size());
  Summary s = summarize(ms);
  LoadedRuns measured{cadence.rate_hz, {s.median, s.min, s.p90, s.p99, s.ci95, s.count}, {}};
  if (!watch) return measured;
  for (; watch->sees() && turns.spent() < kSchedule.sensors_s && turns.comes(); ++runs) RUNG_CHECK(turns.time(session));
  measured.load = watch->stop(runs);
  return measured;
}

}  // namespace rung
