// Builds the plan of a recipe; may tune its choices again where shapes have changed.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "open/open_model.hpp"
#include "open/recipe.hpp"

namespace rung::tasks {

struct BuildTask {
  OpenOptions model;
  std::optional<Recipe> recipe;  // none: the default one
  // Removes choices that decide nothing in this plan, and measures kernels for problems without a choice, within the
  // budget.
  bool retune = false;
  double budget_s = 10;
  std::string database;  // a file of tuning results; empty: none
  std::function<bool()> interrupted = [] { return false; };
};

struct BuiltPlan {
  std::shared_ptr<const Plan> plan;
  size_t kept = 0, left_out = 0, tuned = 0;  // choices, if tuned again
};

// Errors: those of open_model() and recipe_of(); a plan instead of a model directory (usage); a damaged database.
Result<BuiltPlan> build(const BuildTask& task);

struct BuiltSet {
  PlanSet plans;
  size_t kept = 0, left_out = 0, tuned = 0;  // choices, of all plans
};
// Builds one plan for each task; the tasks differ in shapes and recipes. Errors: those of build() and PlanSet::make().
Result<BuiltSet> build_set(const std::vector<BuildTask>& tasks);

}  // namespace rung::tasks
