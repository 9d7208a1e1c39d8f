// Runs the passes, then lowers the graph.
// SPDX-License-Identifier: Apache-2.0
#include "plan/build.hpp"

#include <algorithm>

#include "device/cpu/start_team.hpp"
#include "plan/kernel_choice.hpp"
#include "plan/lower.hpp"

namespace rung {
namespace {

Result<PassReport> run_recipe_passes(Graph& graph, const Recipe& recipe, const BuildOptions& options) {
  if (options.target->kind == "cpu") RUNG_CHECK(cpu::check_threads(recipe.threads));
  PassOptions passes{.rungs = recipe.rungs,
                     .disabled = recipe.disabled_passes,
                     .as_written = recipe.as_written,
                     .has_kernel = kernel_query(*options.target, recipe.threads),
                     .precision = recipe.precision,
                     .row_bytes = options.target->row_bytes,
                     .dump_directory = options.dump_directory};
  return run_passes(graph, passes);
}

bool has_launch(const Plan& plan, const PartPrecision& part) {
  return std::ranges::any_of(plan.steps, [&](const Step& step) { return part.covers(step.label); });
}

// Returns ", but some begin 'encoder.layer'" for 'encoder.layer.12'; empty: no label begins with its first word either.
std::string nearest_part(const Plan& plan, PartPrecision part) {
  for (size_t dot; (dot = part.labels.rfind('.')) != std::string::npos;) {
    part.labels.resize(dot);
    if (has_launch(plan, part)) return fmt::format(", but some begin '{}'", part.labels);
  }
  return "";
}

}  // namespace

Result<Graph> apply_passes(const Graph& graph, const Recipe& recipe, PassReport* report, const BuildOptions& options) {
  Graph copy = graph;
  RUNG_TRY(PassReport ran, run_recipe_passes(copy, recipe, options));
  if (report) *report = std::move(ran);
  return copy;
}

Result<Built> build_plan(const Graph& graph, const Recipe& recipe, const BuildOptions& options) {
  Graph copy = graph;
  Built built;
  RUNG_TRY(built.passes, run_recipe_passes(copy, recipe, options));
  built.plan.recipe = recipe;
  built.plan.model = graph.name;
  built.plan.target = options.target;
  built.plan.device = options.target->fingerprint;
  RUNG_TRY(WeightTable weights, lower(copy, recipe, built.plan));
  if (options.contents) {
    RUNG_TRY(built.plan.weights, weights.make(options.weights));
  } else {
    built.plan.weights = weights.list();
  }
  built.graph = std::move(copy);
  return built;
}

Status check_choices(const Recipe& recipe, const Plan& plan) {
  if (!recipe.tuned_kernels && !recipe.choices.empty())
    return mismatch("recipe: field 'choices': got {} with 'tuned_kernels' false, wanted none", recipe.choices.size());
  for (const auto& [problem, choice] : recipe.choices)
    if (!plan.recipe.choices.contains(problem))
      return mismatch(
          "recipe: choice '{}': no launch of this model has this problem; shapes and threads are part of a problem; "
          "'rung build --retune' (retune in Python and C) drops such choices and tunes new problems",
          problem);
  return {};
}

Status check_precision(const Recipe& recipe, const Plan& plan) {
  for (const PartPrecision& part : recipe.precision) {
    if (has_launch(plan, part)) continue;
    return mismatch("recipe: precision of '{}': no launch of this model has a label that begins so{}; {}", part.labels,
                    nearest_part(plan, part), "'rung inspect MODEL --graph --recipe FILE' lists the labels");
  }
  return {};
}

}  // namespace rung
