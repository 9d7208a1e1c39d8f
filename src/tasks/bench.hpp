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

// A session with inputs set that has run once, and the time this took: a process pays it before its second inference.
struct Started {
  std::shared_ptr<const Plan> plan;
  Session session;
  NamedTensors inputs;
  double load_ms = 0;       // reading the plan (or building it) and binding it
  double first_run_ms = 0;  // setting inputs and one run
};

struct Benched {
  LoadedRuns measured;  // if interrupted, only the runs so far
  bool interrupted = false;
  double load_ms = 0, first_run_ms = 0;
  double cold_median_ms = 0;  // caches flushed before each run; NaN: interrupted before this measurement
  double host_us = 0;         // time of a run outside kernels; NaN likewise
  Disturbance disturbance;    // during all measurements
  std::shared_ptr<const Plan> plan;
};

// start_bench() and measure_bench() are for callers that run the session in another way between them. Errors: those of
// opening, building and running; runs or a rate out of range (usage).
Result<Started> start_bench(const BenchTask& task);
Result<Benched> measure_bench(Started& started, const BenchTask& task);
// Calls both.
Result<Benched> bench(const BenchTask& task);
nlohmann::json to_json(const Benched& benched);

// Returns milliseconds of each run that begins within that many seconds, at least one. Errors: the first of a run.
Result<std::vector<double>> time_for(Session& session, double seconds);
inline constexpr double kWarmUpSeconds = 0.05;

}  // namespace rung::tasks
