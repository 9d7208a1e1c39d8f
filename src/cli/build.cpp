// rung build: a plan from a model and a recipe.
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/models.hpp"
#include "cli/output.hpp"
#include "cli/terminal.hpp"
#include "plan/file.hpp"

namespace rung::cli {
namespace {

struct BuildFlags {
  CommonOptions common;
  std::string recipe, out = "plan.rung";
};

Status run_build(const BuildFlags& options) {
  log_to_stderr(options.common.log_level);
  RUNG_TRY(tasks::ModelOptions model, model_options(options.common));
  RUNG_TRY(tasks::Opened opened, tasks::open_model(model));
  if (!opened.subject) return wrong_usage("'{}' is a plan already: build from a model directory", options.common.model);
  RUNG_TRY(auto recipe, recipe_in(options.recipe));
  RUNG_TRY(auto plan, tasks::plan_by_recipe(opened, recipe, model));
  tasks::note_if_unjudged(*plan);
  RUNG_CHECK(save_plan(*plan, options.out));
  if (options.common.json)
    print_json({{"plan", options.out},
                {"kernels", plan->steps.size()},
                {"weight_bytes", plan->weight_bytes()},
                {"arena_bytes", plan->arena_bytes}});
  else
    fmt::print("{}: {} launches, {:.1f} MB of weights, {:.1f} MB of arena\n", options.out, plan->steps.size(),
               static_cast<double>(plan->weight_bytes()) * 1e-6, static_cast<double>(plan->arena_bytes) * 1e-6);
  return {};
}

}  // namespace

std::pair<CLI::App*, Run> build_command(CLI::App& app) {
  auto options = std::make_shared<BuildFlags>();
  auto* command = add_command(app, "build", "build a plan from a model and a recipe");
  add_common(*command, options->common);
  add(*command, "recipe", options->recipe).required();
  add(*command, "out", options->out).described("the plan file").shows_default();
  return {command, [options] { return run_build(*options); }};
}

}  // namespace rung::cli
