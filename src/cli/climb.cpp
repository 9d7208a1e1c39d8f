// rung climb: from a model to a verified, faster plan, with its report.
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/log.hpp"
#include "base/pending_files.hpp"
#include "cli/budget.hpp"
#include "cli/command.hpp"
#include "cli/fault.hpp"
#include "cli/interrupts.hpp"
#include "cli/models.hpp"
#include "cli/output.hpp"
#include "cli/quiet.hpp"
#include "cli/terminal.hpp"
#include "measure/clock.hpp"
#include "measure/resources.hpp"
#include "open/open_model.hpp"
#include "report/json.hpp"
#include "report/terminal.hpp"
#include "tasks/climb.hpp"

namespace rung::cli {
namespace {

struct ClimbFlags {
  CommonOptions common;
  std::string budget = "60s", out = "rung-out", database = default_database_path(), wait_quiet;
  std::vector<std::string> skip;
};

// An unwritable folder is found before the work, not after it.
Status check_writable(const std::string& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) return fail("--out '{}': cannot make the folder: {}", directory, error.message());
  return PendingFiles().add(directory + "/.rung-probe", "x");  // never put in place
}

Result<tasks::ClimbTask> climb_task(const ClimbFlags& options) {
  tasks::ClimbTask task{
      .model = {}, .budget_s = 0, .skip = options.skip, .database = options.database, .interrupted = interrupted};
  RUNG_TRY(task.budget_s, parse_budget(options.budget));
  RUNG_TRY(task.model, model_options(options.common));
  return task;
}

// Runs the recipe that the climb was at when the device failed.
Status with_op_of_climb(Status status, const ClimbFlags& options, const std::optional<Recipe>& suspect) {
  if (!suspect) return status;
  std::string file = fmt::format("{}/.suspect.{}.json", options.out, getpid());
  CommonOptions common = options.common;
  if (common.dtype != "model") common.dtype = name_of(suspect->precision);  // bf16 is a rung: not every recipe has it
  if (Status saved = save_recipe(*suspect, file); saved)
    status = with_op_of_fault(std::move(status), common, {"--recipe", file});
  else
    status.error().message += "; the op was not looked for: " + saved.error().message;
  std::error_code ignored;
  std::filesystem::remove(file, ignored);
  return status;
}

Status run_climb(const ClimbFlags& options) {
  log_to_stderr(options.common.log_level);
  RUNG_TRY(tasks::ClimbTask task, climb_task(options));
  RUNG_TRY(const double waited_s, wait_quiet(options.wait_quiet));
  const auto spent_s = [waited_s] { return process_seconds() - waited_s; };  // of the budget
  RUNG_TRY(Opened opened, rung::open_model(task.model));
  std::optional<Recipe> suspect;
  task.device_failed = [&](const Recipe& recipe) { suspect = recipe; };
  task.spent_s = spent_s();
  RUNG_TRY(ClimbOptions climbing, tasks::climb_options(task, opened));
  RUNG_CHECK(check_writable(options.out));
  const InterruptsAwaited awaited;
  Result<ClimbOutcome> outcome = fail("not started");
  {
    Progress progress(options.common.log_level > 0);
    climbing.progress = [&](const std::string& what, double fraction) { progress.show(what, fraction); };
    outcome = climb(*opened.subject, climbing);
  }
  if (!outcome) return with_op_of_climb(tl::unexpected<Error>(outcome.error()), options, suspect);
  const int64_t began = now_ns();
  RUNG_CHECK(tasks::save_climb(*outcome, options.out, spent_s));
  log(2, "written in {:.2f} s", static_cast<double>(now_ns() - began) * 1e-9);
  if (options.common.json) {
    print_json(to_json(outcome->result));
  } else {
    fmt::print("{}", ladder_table(outcome->result, stdout_is_terminal()));
    fmt::print("\nplan    {0}/plan.rung\nreport  {0}/report.html\n", options.out);
  }
  return {};
}

}  // namespace

std::pair<CLI::App*, Run> climb_command(CLI::App& app) {
  auto options = std::make_shared<ClimbFlags>();
  auto* command =
      add_command(app, "climb", "climb the ladder: measure, verify and keep what is faster; write plan and report");
  add_common(*command, options->common);
  add(*command, "budget", options->budget).shows_default();
  add_wait_quiet(*command, options->wait_quiet);
  add(*command, "out", options->out).shows_default();
  add(*command, "skip", options->skip).splits_at(',');
  add(*command, "database", options->database);
  return {command, [options] { return run_climb(*options); }};
}

}  // namespace rung::cli
