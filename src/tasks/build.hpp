// Builds the plan of a recipe, whose choices may be tuned again where shapes have changed.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "open/open_model.hpp"
#include "open/recipe.hpp"

namespace rung::tasks {

struct BuildTask {
  OpenOptions model;
  std::optional<Recipe> recipe;  // none: the default one
  // Choices that decide nothing in this plan are left out, and kernels without a choice are measured, within the
  // budget.
  bool retune = false;
  double budget_s = 10;
  std::string database;  // what tuning found, a file; empty: none
  std::function<bool()> interrupted = [] { return false; };
};

struct BuiltPlan {
  std::shared_ptr<const Plan> plan;
  size_t kept = 0, left_out = 0, tuned = 0;  // choices, where it was tuned again
};

// Errors: those of open_model() and recipe_of(); a plan instead of a model directory (usage); a damaged database.
Result<BuiltPlan> build(const BuildTask& task);

struct BuiltSet {
  PlanSet plans;
  size_t kept = 0, left_out = 0, tuned = 0;  // choices of all plans
};
// One plan for each task, which differ in their shapes and recipes. Errors: those of build() and PlanSet::make().
Result<BuiltSet> build_set(const std::vector<BuildTask>& tasks);

}  // namespace rung::tasks
