// rung climb: makes a verified, faster plan of a model, with its report.
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>

#include "base/log.hpp"
#include "base/pending_files.hpp"
#include "base/words.hpp"
#include "cli/budget.hpp"
#include "cli/command.hpp"
#include "cli/fault.hpp"
#include "cli/interrupts.hpp"
#include "cli/models.hpp"
#include "cli/output.hpp"
#include "cli/quiet.hpp"
#include "cli/terminal.hpp"
#include "device/gpu/counted_figures.hpp"
#include "kernels/device_word.hpp"
#include "measure/clock.hpp"
#include "measure/resources.hpp"
#include "open/open_model.hpp"
#include "report/format.hpp"
#include "report/json.hpp"
#include "report/terminal.hpp"
#include "tasks/climb.hpp"
#include "tasks/text_mix.hpp"
#include "tasks/text_start.hpp"

namespace rung::cli {
namespace {

struct ClimbFlags {
  CommonOptions common;
  std::string budget = "60s", out = "rung-out", database = default_database_path(), wait_quiet;
  std::vector<std::string> skip;
  std::optional<int64_t> prompt, made;  // tokens of a mix of work
  std::optional<double> error, cosine, kl;
};

// Finds an unwritable folder before the work, not after it.
Status check_writable(const std::string& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) return fail("--out '{}': cannot make the folder: {}", directory, error.message());
  return check_writable_folder(directory);
}

// The climbs of a command, and the mix of work that they are for.
struct Climbs {
  std::vector<tasks::ClimbTask> tasks;  // one for each plan, without a budget so far
  std::optional<tasks::TextMix> mix;
  tasks::MixPhases phases;  // of the mix
};

// Returns the words that say which plans the command makes.
std::string words_of_plans(const ClimbFlags& options) {
  if (options.prompt) return fmt::format(" --prompt {} --new {}", *options.prompt, *options.made);
  std::string words;
  for (const std::string& shape : options.common.shapes) words += " --shape " + tasks::shell_word(shape);
  return words;
}

Result<Climbs> climbs_of(const ClimbFlags& options) {
  RUNG_TRY(auto models, options_of_each_plan(options.common));
  Climbs climbs;
  if (options.prompt) {
    climbs.mix = {*options.prompt, *options.made};
    RUNG_TRY(climbs.phases, tasks::phases_of(models[0], *climbs.mix));
    models = tasks::options_of(models[0], climbs.phases);
  }
  for (OpenOptions& model : models)
    climbs.tasks.push_back({.model = std::move(model),
                            .goal = {.rel_l2 = options.error, .cosine = options.cosine, .kl = options.kl},
                            .skip = options.skip,
                            .database = options.database,
                            .words_of_plans = words_of_plans(options),
                            .interrupted = interrupted});
  if (climbs.mix) {
    climbs.tasks[0].text_before = climbs.phases.chunk_before;
    climbs.tasks[1].text_before = climbs.phases.token_before;
  }
  return climbs;
}

// Looks for the op with the recipe that the climb was running when the device failed.
Status with_op_of_climb(Status status, const ClimbFlags& options, const OpenOptions& model,
                        const std::optional<Recipe>& suspect) {
  if (!suspect) return status;
  std::string file = fmt::format("{}/.suspect.{}.json", options.out, getpid());
  CommonOptions common = options.common;
  common.shapes.clear();
  for (const auto& [name, shape] : model.shapes) common.shapes.push_back(shape_words({{name, shape}}));
  if (common.dtype != "model")
    common.dtype = name_of(narrowest(suspect->precision));  // bf16 is a rung: not every recipe has it
  if (Status saved = save_recipe(*suspect, file); saved)
    status = with_op_of_fault(std::move(status), common, {"--recipe", file});
  else
    status.error().message += "; the op was not looked for: " + saved.error().message;
  std::error_code ignored;
  std::filesystem::remove(file, ignored);
  return status;
}

using SpentSeconds = std::function<double()>;  // seconds of the budget spent since the command began

// Climbs within `budget_s` of the command's time, some of which is spent already.
Result<ClimbOutcome> run_task(tasks::ClimbTask task, const Opened& opened, const ClimbFlags& options) {
  std::optional<Recipe> suspect;
  task.device_failed = [&](const Recipe& recipe) { suspect = recipe; };
  RUNG_TRY(ClimbOptions climbing, tasks::climb_options(task, opened));
  Result<ClimbOutcome> outcome = fail("not started");
  {
    Progress progress(options.common.log_level > 0);
    climbing.progress = [&](const std::string& what, double fraction) { progress.show(what, fraction); };
    outcome = climb(*opened.subject, climbing);
  }
  if (outcome) return outcome;
  Status failed = with_op_of_climb(tl::unexpected<Error>(outcome.error()), options, task.model, suspect);
  return tl::unexpected(failed.error());
}

Status climb_one(tasks::ClimbTask task, const Opened& opened, const ClimbFlags& options, const SpentSeconds& spent_s) {
  task.spent_s = spent_s();
  RUNG_TRY(ClimbOutcome outcome, run_task(std::move(task), opened, options));
  const int64_t began = now_ns();
  RUNG_CHECK(tasks::save_climb(outcome, options.out, spent_s));
  log(2, "written in {:.2f} s", static_cast<double>(now_ns() - began) * 1e-9);
  if (options.common.json) return print_json(to_json(outcome.result)), Status{};
  fmt::print("{}", ladder_table(outcome.result, stdout_is_terminal()));
  fmt::print("\nplan    {0}/plan.rung\nreport  {0}/report.html\n", options.out);
  return {};
}

// Returns what distinguishes a plan from the others, as the name of a folder: its shapes, or that it is the encoder's.
std::string folder_of(const tasks::ClimbTask& task, const tasks::ClimbTask& other) {
  if (task.model.cache.encodes) return "encoder";
  Shapes own;
  for (const auto& [name, shape] : task.model.shapes)
    if (const auto its = other.model.shapes.find(name); its == other.model.shapes.end() || its->second != shape)
      own[name] = shape;
  std::string folder = shape_words(own);
  std::replace(folder.begin(), folder.end(), ' ', '_');
  std::replace(folder.begin(), folder.end(), '/', '_');
  return folder;
}

// Gives each climb an equal share of the budget, and what earlier climbs left of theirs.
Result<std::vector<tasks::ClimbOfSet>> climb_each(const std::vector<tasks::ClimbTask>& tasks,
                                                  const std::vector<Opened>& opened, const ClimbFlags& options,
                                                  const SpentSeconds& spent_s) {
  std::vector<tasks::ClimbOfSet> climbs;
  for (size_t i = 0; i < tasks.size(); ++i) {
    tasks::ClimbTask task = tasks[i];
    const double began_s = i == 0 ? 0 : spent_s();
    const double share = task.budget_s * static_cast<double>(i + 1) / static_cast<double>(tasks.size());
    task.budget_s = std::max(kLeastBudget, share - began_s);
    task.spent_s = i == 0 ? spent_s() : 0;
    RUNG_TRY(ClimbOutcome outcome, run_task(task, opened[i], options));
    climbs.push_back({folder_of(tasks[i], tasks[i == 0 ? 1 : 0]), std::move(outcome)});
  }
  return climbs;
}

void print_mix(const tasks::MixTimes& times, report::Clock clock) {
  const auto beside_floor = [&](double time, double floor) {
    return report::duration_ms(time, clock) +
           (floor > 0 ? fmt::format(" (floor {})", report::duration_ms(floor, clock)) : "");
  };
  fmt::print("prompt of {}: {}; each further token, behind {}: {}; {} new tokens with their prompt: {}\n",
             words::counted(times.mix.prompt, "token"), beside_floor(times.prefill_ms, times.prefill_floor_ms),
             times.phases.token_before, beside_floor(times.decode_ms, times.decode_floor_ms), times.mix.made,
             beside_floor(times.total_ms, times.floor_ms));
}

Status climb_several(const Climbs& given, const std::vector<Opened>& opened, const ClimbFlags& options,
                     const SpentSeconds& spent_s) {
  RUNG_TRY(auto climbs, climb_each(given.tasks, opened, options, spent_s));
  RUNG_TRY(PlanSet plans, tasks::save_climbs(climbs, options.out));
  nlohmann::json json{{"serves", plans.served()}, {"weight_bytes", plans.weight_bytes()}, {"plans", {}}};
  std::optional<tasks::MixTimes> times;
  if (given.mix) {
    times = tasks::times_of(*given.mix, given.phases, climbs[0].outcome.result, climbs[1].outcome.result);
    json["mix"] = to_json(*times);
    if (counts_instructions(plans.first().device)) gpu::name_counts(json["mix"]);
  }
  for (const auto& climb : climbs) {
    json["plans"].push_back(to_json(climb.outcome.result));
    if (options.common.json) continue;
    fmt::print("{}", ladder_table(climb.outcome.result, stdout_is_terminal()));
    fmt::print("\nreport  {}/{}/report.html\n\n", options.out, climb.folder);
  }
  if (options.common.json) return print_json(json), Status{};
  if (times) print_mix(*times, report::clock_of(plans.first().device));
  fmt::print("plan    {}/plan.rung: {}, {:.1f} MB of weights\n", options.out, plans.served(),
             static_cast<double>(plans.weight_bytes()) * 1e-6);
  return {};
}

Status run_climb(const ClimbFlags& options) {
  log_to_stderr(options.common.log_level);
  RUNG_TRY(Climbs climbs, climbs_of(options));
  RUNG_TRY(const double budget_s, parse_budget(options.budget));
  RUNG_TRY(const double waited_s, wait_quiet(options.wait_quiet));
  const SpentSeconds spent_s = [waited_s] { return process_seconds() - waited_s; };
  std::vector<Opened> opened;
  for (tasks::ClimbTask& task : climbs.tasks) {
    task.budget_s = budget_s;
    RUNG_TRY(opened.emplace_back(), rung::open_model(task.model));
    RUNG_CHECK(tasks::climb_options(task, opened.back()));
  }
  RUNG_CHECK(check_writable(options.out));
  const InterruptsAwaited awaited;
  RUNG_CHECK(tasks::begin_behind_texts(climbs.tasks, opened));
  if (climbs.tasks.size() == 1) return climb_one(std::move(climbs.tasks[0]), opened[0], options, spent_s);
  return climb_several(climbs, opened, options, spent_s);
}

}  // namespace

std::pair<CLI::App*, Run> climb_command(CLI::App& app) {
  auto options = std::make_shared<ClimbFlags>();
  auto* command =
      add_command(app, "climb", "climb the ladder: measure, verify and keep what is faster; write plan and report");
  add_common(*command, options->common);
  add(*command, "budget", options->budget).shows_default();
  auto prompt = add(*command, "prompt", options->prompt);
  auto made = add(*command, "new", options->made).described("new tokens of the text behind --prompt");
  prompt.needs(made);
  made.needs(prompt);
  add_wait_quiet(*command, options->wait_quiet);
  add(*command, "out", options->out).shows_default();
  add(*command, "error", options->error);
  add(*command, "cosine", options->cosine);
  add(*command, "kl", options->kl);
  add(*command, "skip", options->skip).splits_at(',');
  add(*command, "database", options->database);
  return {command, [options] { return run_climb(*options); }};
}

}  // namespace rung::cli
