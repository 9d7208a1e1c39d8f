// Builds, tunes and judges attempts.
// SPDX-License-Identifier: Apache-2.0
#include "ladder/workbench.hpp"

#include <malloc.h>

#include <algorithm>
#include <cmath>

#include "base/log.hpp"
#include "device/cpu/start_team.hpp"
#include "measure/cost.hpp"
#include "plan/kernel_choice.hpp"
#include "reference/evaluate.hpp"
#include "tune/problem.hpp"

namespace rung {
namespace {

constexpr double kTuningShare = 0.35;       // of the whole budget, for all kernel tuning together
constexpr double kTuningShareOfRest = 0.5;  // what was tuned must be timed, too

// Operations that take as long as moving a byte: matrix units of today do 100 to 250, vector units of a CPU 10 to 50.
// It only orders problems that the budget may not all reach.
constexpr double kFlopsPerByte = 100;

// What the scalar evaluator may compute per second of budget; beyond it the unfused f32 plan stands in for it. It
// reaches 2 to 4 GFLOP/s, so this is at most a quarter of the budget.
constexpr double kEvaluatorFlopsPerSecond = 0.5e9;

double total_flops(const Graph& graph) {
  double flops = 0;
  for (NodeId id : graph.order()) flops += cost_of(graph, id).flops;
  return flops;
}

bool all_f32(const Graph& graph) {
  for (NodeId id : graph.order()) {
    DType dtype = graph.type(id).dtype;
    if (is_float(dtype) && dtype != DType::f32 && !graph.is_constant(id)) return false;
  }
  return true;
}

Recipe unfused(int threads, DType precision) {
  Recipe recipe{.threads = threads};
  if (precision != DType::f32) recipe.rungs.insert("precision"), recipe.precision = precision;
  return recipe;
}

}  // namespace

Result<std::unique_ptr<Workbench>> Workbench::create(const Subject& subject, std::vector<NamedTensors> inputs,
                                                     WorkbenchOptions options, Budget& budget) {
  RUNG_TRY(TuningDatabase database, TuningDatabase::open(options.database_path, options.target->fingerprint));
  std::unique_ptr<Workbench> bench(new Workbench(subject, std::move(options), budget, std::move(database)));
  if (!bench->options_.target->gpu) {
    RUNG_TRY(bench->team_, cpu::start_team(bench->options_.threads));
  }
  bench->inputs_ = std::move(inputs);
  RUNG_CHECK(bench->make_reference());
  return bench;
}

Status Workbench::make_reference() {
  bool small = total_flops(subject_.reference) * static_cast<double>(inputs_.size()) <
               kEvaluatorFlopsPerSecond * budget_.total();
  reference_source_ =
      small ? "scalar evaluator in f64" : "unfused plan in f32 (the scalar evaluator would take too long)";
  Attempt attempt;
  if (!small) {
    RUNG_TRY(attempt, bind(subject_.reference, unfused(options_.threads, DType::f32)));
  }
  for (const auto& input : inputs_) {
    if (options_.progress) options_.progress("reference", wanted_.size(), inputs_.size());
    RUNG_CHECK(complete_inputs(subject_.model, input));  // names a bad one better than an op inside would
    std::vector<Tensor> outputs;
    if (small) {
      RUNG_TRY(outputs, evaluate(subject_.reference, {input.begin(), input.end()}));
    } else {
      RUNG_TRY(auto named, attempt.session->infer(input));
      for (auto& [name, tensor] : named) outputs.push_back(std::move(tensor));
    }
    wanted_.push_back(std::move(outputs));
  }
  return {};
}

bool Workbench::low_precision(const Recipe& recipe) const {
  return recipe.precision != DType::f32 || !all_f32(subject_.model.graph);
}

Result<Tolerance> Workbench::tolerance_for_recipe(const Recipe& recipe) {
  if (!low_precision(recipe)) return tolerance_for(DType::f32, longest_reduction_path(subject_.reference));
  if (!low_precision_error_) {
    RUNG_TRY(Attempt baseline, bind(subject_.model.graph, unfused(options_.threads, recipe.precision)));
    RUNG_CHECK(measure_baseline_error(baseline));
  }
  return low_precision_tolerance(*low_precision_error_);
}

bool Workbench::is_unmeasured_baseline(const Recipe& recipe) const {
  return !low_precision_error_ && low_precision(recipe) && recipe == unfused(options_.threads, recipe.precision);
}

Status Workbench::measure_baseline_error(Attempt& baseline) {
  RUNG_CHECK(judge(baseline, {INFINITY, INFINITY}));
  if (!baseline.right)
    return fail("the unfused low-precision plan has no error to judge others by: {}", baseline.reason);
  low_precision_error_ = baseline.rel_l2;
  return {};
}

Result<Attempt> Workbench::bind(const Graph& graph, Recipe recipe) {
  last_recipe_ = recipe;
  double begin = budget_.spent();
  malloc_trim(0);  // what earlier attempts freed goes back before this one allocates its own
  RUNG_TRY(Built built, build_plan(graph, recipe, {.target = options_.target, .weights = &weights_}));
  double built_at = budget_.spent();
  attach_model(built.plan, subject_);
  Attempt attempt;
  attempt.recipe = std::move(recipe);
  attempt.passes = std::move(built.passes);
  attempt.plan = std::make_shared<Plan>(std::move(built.plan));
  RUNG_TRY(Session session, Session::create(attempt.plan, team_));
  attempt.session = std::make_unique<Session>(std::move(session));
  log(2, "attempt: plan of {} steps made in {:.2f} s, bound in {:.2f} s", attempt.plan->steps.size(), built_at - begin,
      budget_.spent() - built_at);
  return attempt;
}

Status Workbench::judge(Attempt& attempt, const Tolerance& tolerance) {
  attempt.right = true;
  attempt.verdicts.clear();
  double begin = budget_.spent();
  for (size_t i = 0; i < inputs_.size(); ++i) {
    RUNG_TRY(auto outputs, attempt.session->infer(inputs_[i]));
    std::vector<std::string> names;
    std::vector<Tensor> got;
    for (auto& [name, tensor] : outputs) names.push_back(name), got.push_back(std::move(tensor));
    Verification verdict = verify_outputs(names, got, wanted_[i], tolerance);
    for (const auto& output : verdict.outputs) {
      attempt.rel_l2 = std::max(attempt.rel_l2, output.rel_l2);
      attempt.max_abs = std::max(attempt.max_abs, output.max_abs);
      attempt.cosine = std::min(attempt.cosine, output.cosine);
    }
    if (!verdict.passed && attempt.right) attempt.right = false, attempt.reason = verdict.reason;
    attempt.verdicts.push_back(std::move(verdict));
  }
  log(2, "judged on {} inputs in {:.2f} s", inputs_.size(), budget_.spent() - begin);
  return {};
}

Result<Attempt> Workbench::attempt(Recipe recipe, int tuned_later) {
  if (recipe.tuned_kernels) {
    double seconds = tuning_allowance(budget_, tuning_seconds_, tuned_later);
    RUNG_TRY(recipe, with_choices(std::move(recipe), seconds));
  }
  return attempt_as_is(std::move(recipe));
}

Result<Attempt> Workbench::attempt_as_is(Recipe recipe) {
  const bool baseline = is_unmeasured_baseline(recipe);
  if (!baseline) RUNG_CHECK(tolerance_for_recipe(recipe));  // may bind the baseline: before there is another session
  RUNG_TRY(Attempt attempt, bind(subject_.model.graph, std::move(recipe)));
  if (baseline) RUNG_CHECK(measure_baseline_error(attempt));
  RUNG_TRY(Tolerance tolerance, tolerance_for_recipe(attempt.recipe));
  RUNG_CHECK(judge(attempt, tolerance));
  return attempt;
}

std::vector<TuneTask> Workbench::tasks_of(const Plan& plan) const {
  std::map<std::string, TuneTask> by_key;
  for (const Step& step : plan.steps) {
    Problem problem = problem_of(step, plan.recipe.threads);
    problem.params.clear();
    auto [it, added] = by_key.try_emplace(step.problem, TuneTask{step.problem, problem, options_.target, 0, 0});
    it->second.count += 1;
    it->second.headroom += std::max(step.flops / kFlopsPerByte, step.bytes);
  }
  std::vector<TuneTask> tasks;
  for (auto& [key, task] : by_key)
    if (candidates_for(*task.target, task.problem).list.size() > 1) tasks.push_back(std::move(task));
  return tasks;
}

Result<Recipe> Workbench::with_choices(Recipe recipe, double tuning_seconds) {
  RUNG_TRY(Built built, build_plan(subject_.model.graph, recipe, {.target = options_.target, .contents = false}));
  std::vector<TuneTask> tasks = tasks_of(built.plan);
  size_t working_set = built.plan.weight_bytes();
  Budget clock(tuning_seconds);
  tune(tasks, database_,
       {[&] { return clock.left(); }, options_.interrupted,
        [&](size_t done, size_t of) {
          if (options_.progress) options_.progress("tuning", done, of);
        },
        working_set});
  tuning_seconds_ += clock.spent();
  save_tuning();
  std::map<std::string, KernelChoice, std::less<>> choices;
  for (const TuneTask& task : tasks) {
    auto kept = recipe.choices.find(task.key);
    if (kept != recipe.choices.end())
      choices[task.key] = kept->second;
    else if (const auto* entry = valid_entry(database_, task))
      choices[task.key] = entry->choice;
  }
  recipe.choices = std::move(choices);
  return recipe;
}

void Workbench::save_tuning() {
  auto saved = database_.save();
  std::string reason = saved ? "" : saved.error().message;
  if (!saved && reason != unsaved_reason_) log(0, "what was tuned is not saved: {}", reason);
  unsaved_reason_ = std::move(reason);
}

std::string Workbench::account_of_tuning() const {
  const size_t saved = database_.saved(), tuned = saved + database_.unsaved();
  if (tuned == 0) return "nothing new was tuned";
  std::string kept = fmt::format("{} of {} tuned problems are kept in {}", saved, tuned, database_.path());
  return saved < tuned ? kept + ": " + unsaved_reason_ : kept;
}

double tuning_allowance(const Budget& budget, double tuning_seconds, int tuned_later) {
  const double unspent = kTuningShare * budget.total() - tuning_seconds;
  return std::min(unspent, kTuningShareOfRest * budget.left()) / (1 + tuned_later);
}

int64_t longest_reduction_path(const Graph& graph) {
  std::vector<int64_t> path(graph.capacity());
  int64_t longest = 1;
  for (NodeId id : graph.order()) {
    const Node& node = graph[id];
    int64_t before = 0;
    for (NodeId operand : node.operands) before = std::max(before, path[operand]);
    const Semantics semantics = semantics_of(graph, id);
    path[id] = before + (is_float(semantics.accumulator) ? semantics.terms : 0);  // integers are exact
    longest = std::max(longest, path[id]);
  }
  return longest;
}

}  // namespace rung
