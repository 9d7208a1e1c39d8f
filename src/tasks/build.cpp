// Turns a recipe, unchanged or tuned again, into a plan.
// SPDX-License-Identifier: Apache-2.0
#include "tasks/build.hpp"

#include "base/log.hpp"
#include "base/tool.hpp"
#include "kernels/problem_key.hpp"
#include "measure/clock.hpp"
#include "open/open_model.hpp"
#include "open/recipe.hpp"
#include "plan/build.hpp"
#include "plan/kernel_choice.hpp"
#include "tune/plan_tasks.hpp"

namespace rung::tasks {
namespace {

// Returns the plan's problems for which the recipe has no choice, if there is anything to choose.
std::vector<TuneTask> open_choices(const Plan& plan, const Recipe& recipe) {
  std::vector<TuneTask> tasks = tasks_of(plan);
  std::erase_if(tasks, [&](const TuneTask& task) { return recipe.choices.contains(task.key); });
  return tasks;
}

// Takes choices from the database after the tuner has added missing ones.
Status choose(const BuildTask& task, const Plan& listed, const Target& target, Recipe& recipe, BuiltPlan& built) {
  const auto tasks = open_choices(listed, recipe);
  if (tasks.empty()) return {};
  if (target.gpu) RUNG_CHECK(path_of_tool());  // it runs candidates of a GPU
  RUNG_TRY(TuningDatabase database, TuningDatabase::open(task.database, target.fingerprint));
  const int64_t began = now_ns();
  TuneOptions options{.seconds_left = [&] { return task.budget_s - static_cast<double>(now_ns() - began) * 1e-9; },
                      .interrupted = task.interrupted,
                      .progress = [](size_t, size_t) {},
                      .working_set_bytes = listed.weight_bytes()};
  tune(tasks, database, options);
  if (Status saved = database.save(); !saved) log(0, "what was tuned is not saved: {}", saved.error().message);
  if (task.interrupted()) return was_interrupted("interrupted; {} tuned problems are kept", database.saved());
  for (const TuneTask& open : tasks)
    if (const auto* entry = valid_entry(database, open)) {
      recipe.choices[open.key] = choice_of(*entry, open);
      ++built.tuned;
    }
  return {};
}

// Returns the recipe with choices for this model's plan.
Result<Recipe> retuned(const BuildTask& task, const Opened& opened, BuiltPlan& built) {
  const Target& target = *opened.target;
  std::optional<Recipe> bare = task.recipe;
  if (bare) bare->choices.clear();
  RUNG_TRY(Recipe recipe, recipe_of(opened, bare, task.model));
  recipe.tuned_kernels = true;
  if (task.recipe) recipe.choices = task.recipe->choices;
  const size_t given = recipe.choices.size();
  const Graph& graph = opened.subject->model.graph;
  RUNG_TRY(Built listed, build_plan(graph, recipe, {.target = &target, .contents = false}));
  recipe.choices = listed.plan.recipe.choices;
  built.kept = recipe.choices.size();
  built.left_out = given - built.kept;
  RUNG_CHECK(choose(task, listed.plan, target, recipe, built));
  return recipe;
}

}  // namespace

Result<BuiltPlan> build(const BuildTask& task) {
  RUNG_TRY(Opened opened, open_model(task.model));
  if (!opened.subject) return wrong_usage("'{}' is already a plan: build from a model directory", task.model.path);
  BuiltPlan built;
  std::optional<Recipe> recipe = task.recipe;
  if (task.retune) {
    RUNG_TRY(recipe, retuned(task, opened, built));
  }
  RUNG_TRY(built.plan, plan_by_recipe(opened, recipe, task.model));
  note_if_unjudged(*built.plan);
  return built;
}

Result<BuiltSet> build_set(const std::vector<BuildTask>& tasks) {
  std::vector<Plan> plans;
  BuiltPlan sums;
  SharedWeights weights;  // at once: memory holds all weights twice at most, not once for each plan
  for (const BuildTask& task : tasks) {
    RUNG_TRY(BuiltPlan built, build(task));
    sums.kept += built.kept, sums.left_out += built.left_out, sums.tuned += built.tuned;
    weights.share(plans.emplace_back(*built.plan));
  }
  RUNG_TRY(PlanSet set, PlanSet::make(std::move(plans)));
  return BuiltSet{std::move(set), sums.kept, sums.left_out, sums.tuned};
}

}  // namespace rung::tasks
