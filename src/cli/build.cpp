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
  std::string out = "plan.rung", budget = "10s", database = default_database_path();
  std::vector<std::string> recipes;
  bool retune = false;
};

// Makes one task for each plan; a single recipe holds for all plans.
Result<std::vector<tasks::BuildTask>> build_tasks(const BuildFlags& options) {
  RUNG_TRY(auto models, options_of_each_plan(options.common));
  const auto& files = options.recipes;
  if (files.size() > 1 && files.size() != models.size())
    return wrong_usage("--recipe: got {} for {}, wanted one, or one for each", files.size(),
                       words::counted(models.size(), "plan"));
  RUNG_TRY(const double budget_s, parse_budget(options.budget));
  std::vector<tasks::BuildTask> all;
  for (size_t i = 0; i < models.size(); ++i) {
    tasks::BuildTask task{.model = std::move(models[i]),
                          .retune = options.retune,
                          .budget_s = budget_s / static_cast<double>(models.size()),
                          .database = options.database,
                          .interrupted = interrupted};
    if (!files.empty()) {
      RUNG_TRY(task.recipe, recipe_in(files[files.size() == 1 ? 0 : i]));
    }
    all.push_back(std::move(task));
  }
  return all;
}

struct Sizes {
  size_t launches = 0;
  uint64_t arena_bytes = 0;
};
Sizes sizes_of(const PlanSet& plans) {
  Sizes sizes;
  for (const auto& plan : plans) sizes.launches += plan->steps.size(), sizes.arena_bytes += plan->arena_bytes;
  return sizes;
}

Status run_build(const BuildFlags& options) {
  log_to_stderr(options.common.log_level);
  RUNG_TRY(auto tasks, build_tasks(options));
  std::optional<InterruptsAwaited> awaited;
  if (options.retune) awaited.emplace();
  RUNG_TRY(tasks::BuiltSet built, tasks::build_set(tasks));
  RUNG_CHECK(save_plans(built.plans, options.out));
  const Sizes sizes = sizes_of(built.plans);
  const uint64_t weight_bytes = built.plans.weight_bytes();
  if (options.common.json) {
    print_json({{"plan", options.out},
                {"serves", built.plans.served()},
                {"kernels", sizes.launches},
                {"weight_bytes", weight_bytes},
                {"arena_bytes", sizes.arena_bytes},
                {"choices", {{"kept", built.kept}, {"left_out", built.left_out}, {"tuned", built.tuned}}}});
    return {};
  }
  if (options.retune)
    fmt::print("choices: {} of the recipe kept, {} left out, {} tuned\n", built.kept, built.left_out, built.tuned);
  fmt::print("{}: {}, {:.1f} MB of weights, {:.1f} MB of arena\n", options.out,
             words::counted(sizes.launches, "launch", "launches"), static_cast<double>(weight_bytes) * 1e-6,
             static_cast<double>(sizes.arena_bytes) * 1e-6);
  if (built.plans.size() > 1) fmt::print("serves {}\n", built.plans.served());
  return {};
}

}  // namespace

std::pair<CLI::App*, Run> build_command(CLI::App& app) {
  auto options = std::make_shared<BuildFlags>();
  auto* command = add_command(app, "build", "build a plan from a model, by a recipe or by default");
  add_common(*command, options->common);
  add(*command, "recipe", options->recipes);
  add(*command, "out", options->out).described("the plan file to write").takes("FILE").shows_default();
  auto retune = add(*command, "retune", options->retune);
  add(*command, "budget", options->budget).described("time that --retune may take").shows_default().needs(retune);
  add(*command, "database", options->database).needs(retune);
  return {command, [options] { return run_build(*options); }};
}

}  // namespace rung::cli
