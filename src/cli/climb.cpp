// rung climb: from a model to a verified, faster plan, with its report.
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/log.hpp"
#include "base/pending_files.hpp"
#include "cli/command.hpp"
#include "cli/fault.hpp"
#include "cli/models.hpp"
#include "cli/output.hpp"
#include "cli/terminal.hpp"
#include "ladder/climb.hpp"
#include "ladder/rungs.hpp"
#include "measure/clock.hpp"
#include "measure/resources.hpp"
#include "plan/file.hpp"
#include "report/json.hpp"
#include "report/terminal.hpp"
#include "report/write.hpp"

namespace rung::cli {
namespace {

constexpr int kVerificationInputs = 3;

struct ClimbFlags {
  CommonOptions common;
  std::string budget = "60s", out = "rung-out", database = default_database_path();
  std::vector<std::string> skip;
};

constexpr double kLeastBudget = 1;  // seconds: what climbing the smallest models takes

// "60s", "5m", "1500ms" or plain seconds.
Result<double> parse_time(const std::string& text) {
  double value = 0;
  auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  double scale = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "ms" ? 1e-3 : 0;
  if (code != std::errc() || scale == 0 || !(value > 0))
    return wrong_usage("--budget: got '{}', wanted a time such as 60s or 5m", text);
  if (value * scale < kLeastBudget) return wrong_usage("--budget: got '{}', wanted at least {}s", text, kLeastBudget);
  return value * scale;
}

// An unwritable folder is found before the work, not after it.
Status check_writable(const std::string& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) return fail("--out '{}': cannot make the folder: {}", directory, error.message());
  return PendingFiles().add(directory + "/.rung-probe", "x");  // never put in place
}

Result<ClimbOptions> climb_options(const ClimbFlags& options, const Opened& opened) {
  ClimbOptions climb{.target = opened.target,
                     .threads = threads_for(*opened.target, options.common.threads),
                     .spent_s = process_seconds(),
                     .database_path = options.database,
                     .interrupted = interrupted};
  RUNG_TRY(climb.budget_s, parse_time(options.budget));
  if (options.common.dtype == "bf16") climb.dtype = DType::bf16;
  for (const auto& name : options.skip) {
    if (!rung_named(name)) return wrong_usage("--skip: there is no rung '{}'", name);
    climb.skip.insert(name);
  }
  for (uint64_t seed = 1; seed <= kVerificationInputs; ++seed)
    climb.inputs.push_back(sample_missing(*opened.subject, opened.given, seed));
  bool all_given = climb.inputs[0].size() == opened.given.size();
  if (all_given) climb.inputs.resize(1);
  return climb;
}

// All files or none.
Status write_outcome(ClimbOutcome& outcome, const std::string& directory) {
  PendingFiles files;
  RUNG_CHECK(add_plan(files, *outcome.plan, directory + "/plan.rung"));
  RUNG_CHECK(files.add(directory + "/recipe.json", recipe_text(outcome.recipe)));
  RUNG_CHECK(files.add(directory + "/trace.json", outcome.trace.to_json()));
  outcome.result.total_s = process_seconds();  // the reports alone are still to write
  RUNG_CHECK(add_reports(files, outcome.result, directory));
  return files.commit();
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
  RUNG_TRY(Opened opened, open_model(options.common));
  if (!opened.subject) return wrong_usage("'{}' is a plan already: climb a model directory", options.common.model);
  RUNG_TRY(ClimbOptions climbing, climb_options(options, opened));
  RUNG_CHECK(check_writable(options.out));
  catch_interrupts();
  Result<ClimbOutcome> outcome = fail("not started");
  std::optional<Recipe> suspect;
  climbing.device_failed = [&](const Recipe& recipe) { suspect = recipe; };
  {
    Progress progress(options.common.log_level > 0);
    climbing.progress = [&](const std::string& what, double fraction) { progress.show(what, fraction); };
    outcome = climb(*opened.subject, climbing);
  }
  if (!outcome) return with_op_of_climb(tl::unexpected<Error>(outcome.error()), options, suspect);
  const int64_t began = now_ns();
  RUNG_CHECK(write_outcome(*outcome, options.out));
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
  add(*command, "out", options->out).shows_default();
  add(*command, "skip", options->skip).splits_at(',');
  add(*command, "database", options->database);
  return {command, [options] { return run_climb(*options); }};
}

}  // namespace rung::cli
