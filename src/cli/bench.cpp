// rung bench: latency of a plan, back to back or at a steady rate.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "base/words.hpp"
#include "cli/command.hpp"
#include "cli/fault.hpp"
#include "cli/interrupts.hpp"
#include "cli/models.hpp"
#include "cli/output.hpp"
#include "cli/quiet.hpp"
#include "cli/terminal.hpp"
#include "device/gpu/counted_figures.hpp"
#include "measure/statistics.hpp"
#include "report/intervals.hpp"
#include "report/load_lines.hpp"
#include "tasks/bench.hpp"

namespace rung::cli {
namespace {

struct BenchFlags {
  CommonOptions common;
  std::string recipe;
  int runs = 200;
  double rate = 0;  // runs a second; 0: back to back
  bool blocks = false;
  std::string wait_quiet;
};

// Answers "go 300" with {"runs":..,"median_ms":..,"times_ms":[..]} or "median_instructions", "times_instructions", so
// that another process can alternate contestants.
Status serve_blocks(Session& session) {
  std::string word;
  double milliseconds = 0;
  fmt::print("ready\n");
  std::fflush(stdout);
  while (std::cin >> word >> milliseconds) {
    if (word != "go" || !(milliseconds > 0))
      return wrong_usage("--blocks: got '{} {}', wanted 'go MILLISECONDS'", word, milliseconds);
    RUNG_CHECK(tasks::time_for(session, tasks::kWarmUpSeconds));
    RUNG_TRY(std::vector<double> ms, tasks::time_for(session, milliseconds * 1e-3));
    nlohmann::json answer{{"runs", ms.size()}, {"median_ms", median(ms)}, {"times_ms", ms}};
    if (session.plan().target->machine.gpu.counts_instructions) gpu::name_counts(answer);
    fmt::print("{}\n", dump_json(answer));
    std::fflush(stdout);
  }
  return {};
}

void print_bench(const tasks::Benched& benched) {
  const Latency& s = benched.measured.latency;
  const Plan& plan = *benched.plan;
  const report::Clock clock = report::clock_of(plan.device);
  fmt::print("median {:.3f} {} {}   min {:.3f}   p90 {:.3f}   p99 {:.3f}   cold {}\n", s.median_ms,
             report::ms_word(clock), report::bracketed(s, 3), s.min_ms, s.p90_ms, s.p99_ms,
             report::fixed(benched.cold_median_ms, 3));
  std::string threads = plan.recipe.threads > 0 ? " on " + words::counted(plan.recipe.threads, "thread") : "";
  const bool tells_outside = clock == report::Clock::time && std::isfinite(benched.host_us);
  const std::string outside = tells_outside ? fmt::format(", {:.1f} us outside kernels per run", benched.host_us) : "";
  fmt::print("{} of {}{}{}; {}\n", words::counted(s.runs, "run"),
             words::counted(plan.steps.size(), "launch", "launches"), threads, outside, plan.device);
  if (plan.target->gpu)
    for (const std::string& line : report::load_lines({benched.measured}, clock)) fmt::print("{}\n", line);
  print_disturbance(benched.disturbance);
  fmt::print("loaded in {:.1f} ms, first run {:.1f} ms\n", benched.load_ms, benched.first_run_ms);
}

Status run_bench(const BenchFlags& options) {
  log_to_stderr(options.common.log_level);
  tasks::BenchTask task{.model = {}, .recipe = {}, .runs = options.runs, .rate_hz = options.rate};
  RUNG_TRY(task.model, model_options(options.common));
  RUNG_TRY(task.recipe, recipe_in(options.recipe));
  RUNG_TRY(tasks::Started started, tasks::start_bench(task));
  RUNG_CHECK(wait_quiet(options.wait_quiet));
  if (options.blocks) return serve_blocks(started.session);
  const InterruptsAwaited awaited;
  task.interrupted = interrupted;
  RUNG_TRY(tasks::Benched benched, tasks::measure_bench(started, task));
  if (options.common.json)
    print_json(to_json(benched));
  else
    print_bench(benched);
  if (!benched.interrupted) return {};
  return was_interrupted("interrupted after {} of {} runs", benched.measured.latency.runs, options.runs);
}

}  // namespace

std::pair<CLI::App*, Run> bench_command(CLI::App& app) {
  auto options = std::make_shared<BenchFlags>();
  auto* command = add_command(app, "bench", "measure the latency of a plan, or of a model with default kernels");
  add_common(*command, options->common);
  add_trust(*command, options->common);
  add(*command, "runs", options->runs).within(1, tasks::kMostRuns).shows_default();
  add(*command, "rate", options->rate).between(tasks::kLeastRate, tasks::kMostRate);
  add_wait_quiet(*command, options->wait_quiet);
  add(*command, "blocks", options->blocks).excludes_json();  // blocks prints many objects
  add(*command, "recipe", options->recipe).described("measure this recipe's plan");
  return {command, [options] {
            std::vector<std::string> recipe;
            if (!options->recipe.empty()) recipe = {"--recipe", options->recipe};
            return with_op_of_fault(run_bench(*options), options->common, recipe);
          }};
}

}  // namespace rung::cli
