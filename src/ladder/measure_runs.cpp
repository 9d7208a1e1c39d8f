// Runs at their turns, timed by the host.
// SPDX-License-Identifier: Apache-2.0
#include "ladder/measure_runs.hpp"

#include <chrono>
#include <cmath>
#include <optional>
#include <thread>

#include "device/gpu/load_watch.hpp"
#include "measure/clock.hpp"
#include "measure/statistics.hpp"
#include "session/timed_run.hpp"

namespace rung {
namespace {

// Runs at their turns; milliseconds of each.
class Turns {
 public:
  explicit Turns(double rate_hz) : period_(rate_hz > 0 ? std::llround(1e9 / rate_hz) : 0) {}
  double spent() const { return static_cast<double>(now_ns() - begin_) * 1e-9; }
  Result<double> next(Session& session) {
    if (period_.count() > 0) std::this_thread::sleep_until(due_);
    due_ += period_;
    RUNG_TRY(double seconds, timed_run(session));
    return seconds * 1e3;
  }

 private:
  std::chrono::nanoseconds period_;
  std::chrono::steady_clock::time_point due_ = std::chrono::steady_clock::now();
  int64_t begin_ = now_ns();
};

}  // namespace

Result<LoadedRuns> measure_runs(Session& session, const Cadence& cadence) {
  RUNG_CHECK(session.run());
  std::optional<gpu::LoadWatch> watch;
  if (session.plan().target->gpu) watch.emplace(*session.plan().target->gpu);
  Turns turns(cadence.rate_hz);
  std::vector<double> ms;
  do {
    RUNG_TRY(ms.emplace_back(), turns.next(session));
  } while (static_cast<int>(ms.size()) < cadence.runs && turns.spent() < cadence.seconds);
  int runs = static_cast<int>(ms.size());
  Summary s = summarize(ms);
  LoadedRuns measured{cadence.rate_hz, {s.median, s.min, s.p90, s.p99, s.ci95, s.count}, {}};
  if (!watch) return measured;
  for (; watch->sees() && turns.spent() < kSchedule.sensors_s; ++runs) RUNG_CHECK(turns.next(session));
  measured.load = watch->stop(runs);
  return measured;
}

}  // namespace rung
