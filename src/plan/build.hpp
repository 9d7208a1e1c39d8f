// build(graph, recipe, target) -> plan: a pure function; the ladder only edits recipes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/graph.hpp"
#include "kernels/target.hpp"
#include "passes/runner.hpp"
#include "plan/plan.hpp"
#include "plan/weight_store.hpp"

namespace rung {

struct BuildOptions {
  const Target* target = &cpu_target();
  std::string dump_directory;      // where a failing pass writes its graph
  WeightStore* weights = nullptr;  // shared with other plans that are alive
  bool contents = true;            // weights have contents; without them a plan shows its problems and cannot run
};

struct Built {
  Plan plan;
  PassReport passes;
  Graph graph;  // after the passes: what was lowered
};

// Runs the recipe's passes over a copy of the pristine graph and lowers the result. Adds no default values of inputs.
// The plan's recipe is the one given, without choices that decided nothing.
Result<Built> build_plan(const Graph& graph, const Recipe& recipe, const BuildOptions& options = {});
// Checks that each choice that a person gave in a recipe decided something in the plan built with it. Errors name a
// choice that did not.
Status check_choices(const Recipe& recipe, const Plan& plan);
// Returns the graph after the recipe's passes, except those that narrow: origins() follows each op of the model to the
// op that computes it, whatever its type.
Result<Graph> passed_in_own_types(const Graph& model, Recipe recipe, const BuildOptions& options);
// Checks that each entry of the recipe's precision decides something in the plan that was built with it of `model`: it
// covers the label of a launch or, where one computes several of the model's products together, of one of these, which
// are together because their precision is the same. Errors name an entry that does not, and the nearest part of the
// plan.
Status check_precision(const Recipe& recipe, const Graph& model, const Built& built, const BuildOptions& options = {});
// Returns the recipe without entries of the precision that decide nothing in its plan.
Result<Recipe> without_idle_entries(Recipe recipe, const Graph& model, const BuildOptions& options);
// Returns the graph after the recipe's passes, for inspection.
Result<Graph> apply_passes(const Graph& graph, const Recipe& recipe, PassReport* report = nullptr,
                           const BuildOptions& options = {});

}  // namespace rung
