// rung build: a plan from a model and a recipe.
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "cli/command.hpp"
#include "cli/models.hpp"
#include "cli/terminal.hpp"
#include "plan/build.hpp"
#include "plan/file.hpp"

namespace rung::cli {
namespace {

struct Options {
  CommonOptions common;
  std::string recipe, out = "plan.rung";
};

Status run(const Options& options) {
  log_to_stderr(options.common.log_level);
  RUNG_TRY(Opened opened, open_model(options.common));
  if (!opened.subject) return wrong_usage("'{}' is a plan already: build from a model directory", options.common.model);
  RUNG_TRY(Recipe recipe, load_recipe(options.recipe));
  if (options.common.threads > 0 && options.common.threads != recipe.threads)
    return wrong_usage("the recipe is for {} threads, got --threads {}", recipe.threads, options.common.threads);
  RUNG_TRY(Built built, build_plan(opened.subject->model.graph, recipe, {.target = opened.target}));
  attach_model(built.plan, *opened.subject);
  note_if_unjudged(built.plan);
  RUNG_CHECK(save_plan(built.plan, options.out));
  if (options.common.json)
    fmt::print("{}\n", dump_json(nlohmann::json{{"plan", options.out},
                                                {"kernels", built.plan.steps.size()},
                                                {"weight_bytes", built.plan.weight_bytes()},
                                                {"arena_bytes", built.plan.arena_bytes}}));
  else
    fmt::print("{}: {} launches, {:.1f} MB of weights, {:.1f} MB of arena\n", options.out, built.plan.steps.size(),
               static_cast<double>(built.plan.weight_bytes()) * 1e-6,
               static_cast<double>(built.plan.arena_bytes) * 1e-6);
  return {};
}

}  // namespace

std::pair<CLI::App*, Run> build_command(CLI::App& app) {
  auto options = std::make_shared<Options>();
  auto* command = app.add_subcommand("build", "build a plan from a model and a recipe");
  add_common(*command, options->common);
  add(*command, "recipe", options->recipe)->required();
  add(*command, "out", options->out)->description("the plan file")->capture_default_str();
  return {command, [options] { return run(*options); }};
}

}  // namespace rung::cli
