// Runs the passes, then lowers the graph.
// SPDX-License-Identifier: Apache-2.0
#include "plan/build.hpp"

#include <algorithm>
#include <set>
#include <string_view>

#include "device/cpu/start_team.hpp"
#include "passes/origins.hpp"
#include "plan/kernel_choice.hpp"
#include "plan/lower.hpp"
#include "plan/share_tables.hpp"

namespace rung {
namespace {

Result<PassReport> run_recipe_passes(Graph& graph, const Recipe& recipe, const BuildOptions& options) {
  if (options.target->kind == "cpu") RUNG_CHECK(cpu::check_threads(recipe.threads));
  PassOptions passes{.rungs = recipe.rungs,
                     .disabled = recipe.disabled_passes,
                     .as_written = recipe.as_written,
                     .has_kernel = kernel_query(*options.target, recipe.threads),
                     .precision = recipe.precision,
                     .calibration = recipe.calibration,
                     .channels = recipe.channel_calibration,
                     .outliers = recipe.outlier_columns,
                     .row_bytes = options.target->row_bytes,
                     .dump_directory = options.dump_directory};
  return run_passes(graph, passes);
}

using Labels = std::set<std::string, std::less<>>;

// Returns the labels by which entries of a precision decide something.
Result<Labels> deciding_labels(const Graph& model, const Built& built, const BuildOptions& options) {
  Labels labels;
  for (const Step& step : built.plan.steps) labels.insert(step.label);
  RUNG_TRY(const Graph passed, passed_in_own_types(model, built.plan.recipe, options));
  for (const std::vector<NodeId>& took : origins(model, passed)) {
    Labels products;
    for (NodeId id : took)
      if (narrowing_of(model[id].op) == Narrowing::products) products.insert(model[id].label);
    if (products.size() > 1) labels.merge(products);
  }
  return labels;
}

bool covers_any(const PartPrecision& part, const Labels& labels) {
  return std::ranges::any_of(labels, [&](std::string_view label) { return part.covers(label); });
}

// Returns ", but some begin 'encoder.layer'" for 'encoder.layer.12'; empty: no label begins with its first word either.
std::string nearest_part(const Labels& labels, PartPrecision part) {
  for (size_t dot; (dot = part.labels.rfind('.')) != std::string::npos;) {
    part.labels.resize(dot);
    if (covers_any(part, labels)) return fmt::format(", but some begin '{}'", part.labels);
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
  share_tables(built.plan, weights);
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

Result<Graph> passed_in_own_types(const Graph& model, Recipe recipe, const BuildOptions& options) {
  for (const char* pass : {"narrow_parts", "narrow_states", "narrow_caches", "smooth_products", "rotate_streams",
                           "rotate_heads", "quantise_products"})
    recipe.disabled_passes.emplace(pass);
  return apply_passes(model, recipe, nullptr, options);
}

Result<Recipe> without_idle_entries(Recipe recipe, const Graph& model, const BuildOptions& options) {
  BuildOptions listing = options;
  listing.contents = false;
  RUNG_TRY(const Built built, build_plan(model, recipe, listing));
  RUNG_TRY(const Labels labels, deciding_labels(model, built, options));
  std::erase_if(recipe.precision, [&](const PartPrecision& part) { return !covers_any(part, labels); });
  return recipe;
}

Status check_precision(const Recipe& recipe, const Graph& model, const Built& built, const BuildOptions& options) {
  if (recipe.precision.empty()) return {};
  RUNG_TRY(const Labels labels, deciding_labels(model, built, options));
  for (const PartPrecision& part : recipe.precision) {
    if (covers_any(part, labels)) continue;
    return mismatch("recipe: precision of '{}': no launch of this model has a label that begins so{}; {}", part.labels,
                    nearest_part(labels, part), "'rung inspect MODEL --graph --recipe FILE' lists the labels");
  }
  return {};
}

}  // namespace rung
