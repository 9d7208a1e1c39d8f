// Starts a session, warms it up, and measures its latency.
// SPDX-License-Identifier: Apache-2.0
#include "tasks/bench.hpp"

#include <limits>
#include <nlohmann/json.hpp>

#include "device/gpu/counted_figures.hpp"
#include "ladder/kept_peaks.hpp"
#include "ladder/measure_runs.hpp"
#include "ladder/profile.hpp"
#include "measure/clock.hpp"
#include "measure/resources.hpp"
#include "open/inputs.hpp"
#include "open/open_model.hpp"
#include "open/recipe.hpp"
#include "report/json.hpp"
#include "session/timed_run.hpp"
#include "tune/database.hpp"

namespace rung::tasks {
namespace {

constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();

double milliseconds_since(int64_t began_ns) { return static_cast<double>(now_ns() - began_ns) * 1e-6; }

Status check_cadence(const BenchTask& task) {
  if (task.runs < 1 || task.runs > kMostRuns)
    return wrong_usage("{}: got {}, wanted 1 to {}", task.model.named("runs"), task.runs, kMostRuns);
  if (task.rate_hz != 0 && !(task.rate_hz >= kLeastRate && task.rate_hz <= kMostRate))
    return wrong_usage("{}: got {}, wanted {} to {} runs a second, or none", task.model.named("rate"), task.rate_hz,
                       kLeastRate, kMostRate);
  return {};
}

}  // namespace

Result<std::vector<double>> time_for(Session& session, double seconds) {
  std::vector<double> ms;
  int64_t end = now_ns() + static_cast<int64_t>(seconds * 1e9);
  do {
    RUNG_TRY(double run_seconds, timed_run(session));
    ms.push_back(run_seconds * 1e3);
  } while (now_ns() < end);
  return ms;
}

Result<Started> start_bench(const BenchTask& task) {
  RUNG_CHECK(check_cadence(task));
  int64_t began = now_ns();
  RUNG_TRY(Opened opened, open_model(task.model));
  RUNG_TRY(auto plan, plan_of(opened, task.recipe, task.model));
  RUNG_TRY(Session session, open_session(plan));
  Started started{plan, std::move(session), {}, milliseconds_since(began), 0};
  started.inputs = sample_missing(*plan, opened.given, 1);
  began = now_ns();
  RUNG_CHECK(started.session.set_inputs(started.inputs));
  RUNG_CHECK(started.session.run());
  started.first_run_ms = milliseconds_since(began);
  RUNG_CHECK(started.session.reset_states());
  return started;
}

Result<Benched> measure_bench(Started& started, const BenchTask& task) {
  const DisturbanceWatch watch;
  RUNG_CHECK(time_for(started.session, kWarmUpSeconds));
  RUNG_TRY(
      LoadedRuns measured,
      measure_runs(started.session, {.rate_hz = task.rate_hz, .runs = task.runs, .interrupted = task.interrupted}));
  Benched benched{.measured = std::move(measured),
                  .interrupted = false,
                  .load_ms = started.load_ms,
                  .first_run_ms = started.first_run_ms,
                  .cold_median_ms = kNotMeasured,
                  .host_us = kNotMeasured,
                  .disturbance = {},
                  .plan = started.plan};
  auto profile = profile_session(started.session, started.inputs, kSchedule.profile_s, task.interrupted,
                                 peaks_beside(default_database_path()));
  benched.disturbance = watch.so_far();
  benched.interrupted = !profile && profile.error().kind == ErrorKind::interrupted;
  if (benched.interrupted) return benched;
  if (!profile) return tl::unexpected(profile.error());
  benched.cold_median_ms = profile->cold.median_ms;
  benched.host_us = profile->host_us;
  return benched;
}

Result<Benched> bench(const BenchTask& task) {
  RUNG_TRY(Started started, start_bench(task));
  return measure_bench(started, task);
}

nlohmann::json to_json(const Benched& benched) {
  const Latency& s = benched.measured.latency;
  nlohmann::json json{{"median_ms", s.median_ms},
                      {"min_ms", s.min_ms},
                      {"p90_ms", s.p90_ms},
                      {"p99_ms", s.p99_ms},
                      {"runs", s.runs},
                      {"interrupted", benched.interrupted},
                      {"rate_hz", benched.measured.rate_hz},
                      {"ci95", {s.ci95.lo, s.ci95.hi}},
                      {"load_ms", benched.load_ms},
                      {"first_run_ms", benched.first_run_ms},
                      {"peak_rss_mb", peak_rss_bytes() * 1e-6},
                      {"cold_median_ms", benched.cold_median_ms},
                      {"kernels", benched.plan->steps.size()},
                      {"host_us", benched.host_us},
                      {"disturbance", rung::to_json(benched.disturbance)},
                      {"device", benched.plan->device}};
  if (benched.plan->target->machine.gpu.counts_instructions) gpu::name_counts(json), json["clock"] = "instructions";
  if (benched.plan->target->gpu) json["load"] = rung::to_json(benched.measured.load);
  return json;
}

}  // namespace rung::tasks
