// rung tune: finds the fastest way to compute each of a list of matrix products, for the stack that they come from.
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "base/log.hpp"
#include "base/words.hpp"
#include "cli/budget.hpp"
#include "cli/command.hpp"
#include "cli/interrupts.hpp"
#include "cli/output.hpp"
#include "cli/quiet.hpp"
#include "cli/terminal.hpp"
#include "device/cpu/start_team.hpp"
#include "kernels/params_text.hpp"
#include "open/options.hpp"
#include "report/format.hpp"
#include "report/intervals.hpp"
#include "stacks/tune.hpp"
#include "tasks/tune_json.hpp"
#include "tune/database.hpp"

namespace rung::cli {
namespace {

struct TuneFlags {
  stacks::ProductsTask task{.products = "",
                            .device = {},
                            .database = default_database_path(),
                            .out = "",
                            .format = "",
                            .validators = "",
                            .python = ""};
  std::string device, budget = "60s", wait_quiet;
  int log_level = 0;
  bool json = false;
};

std::string microseconds(double us) { return us > 0 ? report::significant(us) : std::string(report::kNone); }

std::string ratio_text(const stacks::TunedProduct& product) {
  if (product.best_us <= 0) return std::string(report::kNone);
  return fmt::format("{} {}", report::ratio(product.ratio.ratio),
                     report::bracketed(Interval{product.ratio.lo, product.ratio.hi}));
}

void print_products(const stacks::TunedProducts& tuned) {
  size_t width = 10;
  for (const auto& product : tuned.products) width = std::max(width, text_of(product.shape).size());
  fmt::print("{:<{}} {:>7} {:>10} {:>10} {:>22}  {}\n", "product", width, "count", "default us", "best us",
             "times faster", "result");
  for (const auto& product : tuned.products) {
    std::string result = product.reason;
    if (product.faster) result += ": " + product.choice.kernel + params_text(product.choice.params);
    fmt::print("{:<{}} {:>7} {:>10} {:>10} {:>22}  {}\n", text_of(product.shape), width, product.shape.count,
               microseconds(product.default_us), microseconds(product.best_us), ratio_text(product),
               report::printable(result));
  }
}

void print_text(const stacks::TunedProducts& tuned) {
  fmt::print("{}\n\n", tuned.device);
  print_products(tuned);
  print_disturbance(tuned.disturbance);
  if (!tuned.remarks.empty()) fmt::print("\nof the list ({}):\n", report::printable(tuned.source));
  for (const auto& [what, count] : tuned.remarks) fmt::print("  {} x {}\n", count, report::printable(what));
  if (!tuned.out.empty())
    fmt::print("\n{} of {} written to {} ({})\n", tuned.written, words::counted(tuned.products.size(), "product"),
               tuned.out, tuned.format);
}

Status run_tune(const TuneFlags& flags) {
  log_to_stderr(flags.log_level);
  if (flags.task.products.empty()) return wrong_usage("SHAPES is required (--help lists the options)");
  stacks::ProductsTask task = flags.task;
  RUNG_TRY(task.budget_s, parse_budget(flags.budget));
  RUNG_TRY(task.device, asked_device(flags.device));
  RUNG_CHECK(wait_quiet(flags.wait_quiet));
  const InterruptsAwaited awaited;
  task.interrupted = interrupted;
  Result<stacks::TunedProducts> tuned = fail("not started");
  {
    Progress progress(flags.log_level > 0);
    task.progress = [&](const std::string& what, double fraction) { progress.show(what, fraction); };
    tuned = stacks::tune_products(task);
  }
  if (!tuned) return tl::unexpected<Error>(tuned.error());
  if (!tuned->unsaved.empty()) log(0, "what was tuned is not saved: {}", tuned->unsaved);
  if (flags.json)
    print_json(tasks::to_json(*tuned));
  else
    print_text(*tuned);
  if (!tuned->interrupted) return {};
  return was_interrupted("interrupted; what was tuned by then is kept{}", task.out.empty() ? "" : " in " + task.out);
}

}  // namespace

std::pair<CLI::App*, Run> tune_command(CLI::App& app) {
  auto flags = std::make_shared<TuneFlags>();
  auto* command =
      add_command(app, "tune", "tune matrix products on this device, and write files that other stacks load");
  add_file(
      *command, flags->task.products,
      "a CSV list of products, a profiler's trace with shapes, or another stack's file of recorded or tuned products",
      "SHAPES");
  add(*command, "json", flags->json);
  add(*command, "device", flags->device)
      .described("where to tune: cpu, cuda, cuda:NUMBER, hip or hip:NUMBER; default: cpu");
  add(*command, "threads", flags->task.threads).within(0, cpu::kMostThreads);
  add(*command, "budget", flags->budget)
      .described("time for the tuning, such as 60s or 5m, at least 1s")
      .shows_default();
  add_wait_quiet(*command, flags->wait_quiet);
  add(*command, "out", flags->task.out).described("the file to write; an existing file is completed").takes("FILE");
  add(*command, "format", flags->task.format)
      .described(
          "the form of --out; default: that of an existing file, otherwise that of the stack that recorded the list")
      .one_of({"csv", "tunableop", "hipblaslt", "aiter", "gradlib"});
  add(*command, "validators", flags->task.validators);
  add(*command, "python", flags->task.python);
  add(*command, "database", flags->task.database);
  add(*command, "log", flags->log_level).within(0, 5);
  const auto lint = tune_lint_command(*command);
  return {command, [flags, lint] { return is_chosen(*lint.first) ? lint.second() : run_tune(*flags); }};
}

}  // namespace rung::cli
