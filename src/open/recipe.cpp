// Checks a recipe against the options beside it, and builds its plan.
// SPDX-License-Identifier: Apache-2.0
#include "open/recipe.hpp"

#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "base/log.hpp"
#include "device/cpu/cpu_info.hpp"
#include "open/calibrate.hpp"
#include "open/calibration_source.hpp"
#include "open/inputs.hpp"
#include "passes/pipeline.hpp"
#include "plan/build.hpp"

namespace rung {
namespace {

// Options beside a recipe must not contradict it.
Status check_beside(const Recipe& recipe, const OpenOptions& options) {
  if (options.threads > 0 && options.threads != recipe.threads)
    return wrong_usage("the recipe is for {} threads, got {} {}", recipe.threads, options.named("threads"),
                       options.threads);
  const DType dtype = narrowest(recipe.precision);
  if (options.dtype && options.dtype != dtype)
    return wrong_usage("the recipe's precision is {}, got {} {}", dtype, options.named("dtype"), *options.dtype);
  return {};
}

}  // namespace

int threads_for(const Target& target, int asked_for) {
  if (target.gpu) return 0;
  return asked_for > 0 ? asked_for : cpu::cpu_info().cores;
}

// The default recipe has every rung with passes, replay, and kernels in order of preference.
Recipe default_recipe(int threads, DType precision) {
  Recipe recipe{
      .capture = true, .joined = true, .tuned_kernels = true, .precision = everywhere(precision), .threads = threads};
  for (const Pass& pass : pipeline())
    if (pass.rung != "precision" || precision != DType::f32) recipe.rungs.emplace(pass.rung);
  return recipe;
}

Result<Recipe> parse_recipe(std::string_view text) {
  RUNG_TRY(auto json, errors_of(ErrorKind::usage, parse_json(text, "recipe")));
  return errors_of(ErrorKind::usage, recipe_from_json(json));
}

Result<Recipe> recipe_of(const Opened& opened, const std::optional<Recipe>& recipe, const OpenOptions& options) {
  const Target& target = *opened.target;
  if (!recipe)
    return default_recipe(threads_for(target, options.threads),
                          options.dtype == DType::bf16 ? DType::bf16 : DType::f32);
  RUNG_CHECK(check_beside(*recipe, options));
  Recipe own = *recipe;
  if (target.gpu) own.threads = 0;  // a GPU's plan has none, whatever a recipe for a processor says, or leaves out
  RUNG_CHECK(check_calibration(own, opened.subject->model.graph,
                               opened.given.empty() ? std::vector<NamedTensors>{} : verification_inputs(opened)));
  if (own.choices.empty() && own.precision.empty()) return own;
  RUNG_TRY(own, calibrated(std::move(own), opened));
  RUNG_TRY(Built listed, build_plan(opened.subject->model.graph, own, {.target = &target, .contents = false}));
  RUNG_CHECK(check_choices(own, listed.plan));
  RUNG_CHECK(check_precision(own, opened.subject->model.graph, listed, {.target = &target}));
  return own;
}

Result<std::shared_ptr<const Plan>> build_subject(const Subject& subject, const Recipe& recipe, const Target& target) {
  RUNG_TRY(Built built, build_plan(subject.model.graph, recipe, {.target = &target}));
  attach_model(built.plan, subject);
  return std::make_shared<const Plan>(std::move(built.plan));
}

Result<std::shared_ptr<const Plan>> plan_by_recipe(const Opened& opened, const std::optional<Recipe>& recipe,
                                                   const OpenOptions& options) {
  RUNG_TRY(Recipe decided, recipe_of(opened, recipe, options));
  return build_subject(*opened.subject, decided, *opened.target);
}

void note_if_unjudged(const Plan& plan) {
  for (const Step& step : plan.steps)
    if (DType dtype = step.output.view.dtype; is_float(dtype) && dtype != DType::f32)
      return log(0, "computes in {}, and no climb has judged this plan; 'rung verify' does", dtype);
}

Result<std::shared_ptr<const Plan>> plan_of(const Opened& opened, const std::optional<Recipe>& recipe,
                                            const OpenOptions& options) {
  if (opened.plans && recipe) return wrong_usage("'{}' is a plan, which has its own recipe", options.path);
  if (opened.plans && !opened.plan)
    return wrong_usage("'{}' holds {} plans: choose one with {}; there is one for: {}", options.path,
                       opened.plans->size(), options.named("shape"), opened.plans->served());
  if (opened.plan) return opened.plan;
  RUNG_TRY(auto plan, plan_by_recipe(opened, recipe, options));
  if (!recipe) note_if_unjudged(*plan);
  return plan;
}

Result<PlanSet> plans_of(const Opened& opened, const std::optional<Recipe>& recipe, const OpenOptions& options) {
  if (opened.plans && !opened.plan && !recipe) return *opened.plans;
  RUNG_TRY(auto plan, plan_of(opened, recipe, options));
  return PlanSet(std::move(plan));
}

}  // namespace rung
