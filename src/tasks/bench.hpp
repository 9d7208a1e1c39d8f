// Measures the latency of a plan, back to back or at a steady rate.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "base/interrupted.hpp"
#include "ladder/result.hpp"
#include "open/options.hpp"
#include "plan/recipe.hpp"
#include "session/session.hpp"

namespace rung::tasks {

struct BenchTask {
  OpenOptions model;
  std::optional<Recipe> recipe;
  int runs = 200;
  double rate_hz = 0;  // runs a second; 0: back to back
  Interrupted interrupted = {};
};
inline constexpr int kMostRuns = 1'000'000;
inline constexpr double kLeastRate = 0.001, kMostRate = 1e6;

// A session whose inputs are set and that has run once, and what that took: what a process pays before its second
// inference.
struct Started {
  std::shared_ptr<const Plan> plan;
  Session session;
  NamedTensors inputs;
  double load_ms = 0;       // reading the plan (or building it) and binding it
  double first_run_ms = 0;  // setting inputs and one run
};

struct Benched {
  LoadedRuns measured;  // of the runs by then, where it was interrupted
  bool interrupted = false;
  double load_ms = 0, first_run_ms = 0;
  double cold_median_ms = 0;  // caches flushed before each run; NaN: not measured, as it was interrupted before
  double host_us = 0;         // of a run, outside kernels; the same
  Disturbance disturbance;    // of all that was measured
  std::shared_ptr<const Plan> plan;
};

// In two steps, for whoever runs the session in another way. Errors: those of opening, building and running; runs or a
// rate out of range (usage).
Result<Started> start_bench(const BenchTask& task);
Result<Benched> measure_bench(Started& started, const BenchTask& task);
// Both.
Result<Benched> bench(const BenchTask& task);
nlohmann::json to_json(const Benched& benched);

// Milliseconds of each of the runs that begin within that many seconds, one at least. Errors: the first of a run.
Result<std::vector<double>> time_for(Session& session, double seconds);
inline constexpr double kWarmUpSeconds = 0.05;

}  // namespace rung::tasks
