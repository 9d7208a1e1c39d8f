// rung bench: latency of a plan, back to back or at a steady rate.
// SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "cli/command.hpp"
#include "cli/fault.hpp"
#include "cli/models.hpp"
#include "cli/output.hpp"
#include "cli/terminal.hpp"
#include "ladder/measure_runs.hpp"
#include "ladder/profile.hpp"
#include "measure/clock.hpp"
#include "measure/resources.hpp"
#include "measure/statistics.hpp"
#include "report/json.hpp"
#include "report/load_lines.hpp"

namespace rung::cli {
namespace {

struct BenchFlags {
  CommonOptions common;
  int runs = 200;
  double rate = 0;  // runs a second; 0: back to back
  bool blocks = false;
};

constexpr double kWarmUpSeconds = 0.05;

Result<std::vector<double>> time_for(Session& session, double seconds) {
  std::vector<double> ms;
  int64_t end = now_ns() + static_cast<int64_t>(seconds * 1e9);
  do {
    RUNG_TRY(double run_seconds, checked_seconds_of([&] { return session.run(); }));
    ms.push_back(run_seconds * 1e3);
  } while (now_ns() < end);
  return ms;
}

// What a process pays before its second inference.
struct Start {
  double load_ms = 0;       // reading the plan (or building it) and binding it
  double first_run_ms = 0;  // setting inputs and one run
};

// "go 300" -> {"runs":..,"median_ms":..,"times_ms":[..]}; so that another process can alternate contestants.
Status serve_blocks(Session& session) {
  std::string word;
  double milliseconds = 0;
  fmt::print("ready\n");
  std::fflush(stdout);
  while (std::cin >> word >> milliseconds) {
    if (word != "go" || !(milliseconds > 0))
      return wrong_usage("--blocks: got '{} {}', wanted 'go MILLISECONDS'", word, milliseconds);
    RUNG_CHECK(time_for(session, kWarmUpSeconds));
    RUNG_TRY(std::vector<double> ms, time_for(session, milliseconds * 1e-3));
    fmt::print("{}\n", dump_json(nlohmann::json{{"runs", ms.size()}, {"median_ms", median(ms)}, {"times_ms", ms}}));
    std::fflush(stdout);
  }
  return {};
}

Status run_bench(const BenchFlags& options) {
  log_to_stderr(options.common.log_level);
  Start start;
  int64_t began = now_ns();
  RUNG_TRY(Opened opened, open_model(options.common));
  RUNG_TRY(auto plan, plan_of(opened, options.common));
  RUNG_TRY(Session session, open_session(plan));
  start.load_ms = static_cast<double>(now_ns() - began) * 1e-6;
  Inputs inputs = sample_missing(*plan, opened.given, 1);
  began = now_ns();
  RUNG_CHECK(session.set_inputs(inputs));
  RUNG_CHECK(session.run());
  start.first_run_ms = static_cast<double>(now_ns() - began) * 1e-6;
  if (options.blocks) return serve_blocks(session);
  RUNG_CHECK(time_for(session, kWarmUpSeconds));
  RUNG_TRY(LoadedRuns measured, measure_runs(session, {.rate_hz = options.rate, .runs = options.runs}));
  const Latency& s = measured.latency;
  RUNG_TRY(Profile profile, profile_session(session, inputs, kSchedule.profile_s));
  nlohmann::json json{{"median_ms", s.median_ms},
                      {"min_ms", s.min_ms},
                      {"p90_ms", s.p90_ms},
                      {"p99_ms", s.p99_ms},
                      {"runs", s.runs},
                      {"rate_hz", options.rate},
                      {"ci95", {s.ci95.lo, s.ci95.hi}},
                      {"load_ms", start.load_ms},
                      {"first_run_ms", start.first_run_ms},
                      {"peak_rss_mb", peak_rss_bytes() * 1e-6},
                      {"cold_median_ms", profile.cold.median_ms},
                      {"kernels", plan->steps.size()},
                      {"host_us", profile.host_us},
                      {"device", plan->device}};
  if (plan->target->gpu) json["load"] = to_json(measured.load);
  if (options.common.json) return print_json(json), Status{};
  fmt::print("median {:.3f} ms [{:.3f}, {:.3f}]   min {:.3f}   p90 {:.3f}   p99 {:.3f}   cold {:.3f}\n", s.median_ms,
             s.ci95.lo, s.ci95.hi, s.min_ms, s.p90_ms, s.p99_ms, profile.cold.median_ms);
  std::string threads = plan->recipe.threads > 0 ? fmt::format(" on {} threads", plan->recipe.threads) : "";
  fmt::print("{} runs of {} launches{}, {:.1f} us outside kernels per run; {}\n", s.runs, plan->steps.size(), threads,
             profile.host_us, plan->device);
  if (plan->target->gpu)
    for (const std::string& line : report::load_lines({measured})) fmt::print("{}\n", line);
  fmt::print("loaded in {:.1f} ms, first run {:.1f} ms\n", start.load_ms, start.first_run_ms);
  return {};
}

}  // namespace

std::pair<CLI::App*, Run> bench_command(CLI::App& app) {
  auto options = std::make_shared<BenchFlags>();
  auto* command = add_command(app, "bench", "measure the latency of a plan, or of a model with default kernels");
  add_common(*command, options->common);
  add(*command, "runs", options->runs).within(1, 1000000).shows_default();
  add(*command, "rate", options->rate).within(0.001, 1e6);
  add(*command, "blocks", options->blocks).excludes_json();  // it prints many objects
  return {command, [options] { return with_op_of_fault(run_bench(*options), options->common); }};
}

}  // namespace rung::cli
