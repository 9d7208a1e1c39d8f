// rung build: a plan from a model and a recipe.
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "base/words.hpp"
#include "cli/budget.hpp"
#include "cli/command.hpp"
#include "cli/interrupts.hpp"
#include "cli/models.hpp"
#include "cli/output.hpp"
#include "cli/terminal.hpp"
#include "plan/file.hpp"
#include "tasks/build.hpp"
#include "tune/database.hpp"

namespace rung::cli {
namespace {

struct BuildFlags {
  CommonOptions common;
  std::string recipe, out = "plan.rung", budget = "10s", database = default_database_path();
  bool retune = false;
};

Status run_build(const BuildFlags& options) {
  log_to_stderr(options.common.log_level);
  tasks::BuildTask task{.retune = options.retune, .database = options.database};
  RUNG_TRY(task.model, model_options(options.common));
  RUNG_TRY(task.recipe, recipe_in(options.recipe));
  RUNG_TRY(task.budget_s, parse_budget(options.budget));
  std::optional<InterruptsAwaited> awaited;
  if (options.retune) awaited.emplace();
  task.interrupted = interrupted;
  RUNG_TRY(tasks::BuiltPlan built, tasks::build(task));
  const Plan& plan = *built.plan;
  RUNG_CHECK(save_plan(plan, options.out));
  if (options.common.json) {
    print_json({{"plan", options.out},
                {"kernels", plan.steps.size()},
                {"weight_bytes", plan.weight_bytes()},
                {"arena_bytes", plan.arena_bytes},
                {"choices", {{"kept", built.kept}, {"left_out", built.left_out}, {"tuned", built.tuned}}}});
    return {};
  }
  if (options.retune)
    fmt::print("choices: {} of the recipe kept, {} left out, {} tuned\n", built.kept, built.left_out, built.tuned);
  fmt::print("{}: {}, {:.1f} MB of weights, {:.1f} MB of arena\n", options.out,
             words::counted(plan.steps.size(), "launch", "launches"), static_cast<double>(plan.weight_bytes()) * 1e-6,
             static_cast<double>(plan.arena_bytes) * 1e-6);
  return {};
}

}  // namespace

std::pair<CLI::App*, Run> build_command(CLI::App& app) {
  auto options = std::make_shared<BuildFlags>();
  auto* command = add_command(app, "build", "build a plan from a model, by a recipe or by default");
  add_common(*command, options->common);
  add(*command, "recipe", options->recipe);
  add(*command, "out", options->out).described("the plan file to write").takes("FILE").shows_default();
  auto retune = add(*command, "retune", options->retune);
  add(*command, "budget", options->budget).described("time that --retune may take").shows_default().needs(retune);
  add(*command, "database", options->database).needs(retune);
  return {command, [options] { return run_build(*options); }};
}

}  // namespace rung::cli
