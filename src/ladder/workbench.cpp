// Builds and tunes attempts.
// SPDX-License-Identifier: Apache-2.0
#include "ladder/workbench.hpp"

#include <malloc.h>

#include <algorithm>

#include "base/log.hpp"
#include "base/words.hpp"
#include "device/cpu/start_team.hpp"
#include "tune/plan_tasks.hpp"

namespace rung {
namespace {

constexpr double kUnsavedSeconds = 5;  // of tuning that a killed climb may lose; saving takes milliseconds

}  // namespace

Result<std::unique_ptr<Workbench>> Workbench::create(const Subject& subject, std::vector<NamedTensors> inputs,
                                                     WorkbenchOptions options, Budget& budget) {
  RUNG_TRY(TuningDatabase database, TuningDatabase::open(options.database_path, options.target->fingerprint));
  std::unique_ptr<Workbench> bench(new Workbench(subject, std::move(options), budget, std::move(database)));
  RUNG_CHECK(bench->team_of(bench->options_.threads));
  JudgeOptions judge{.threads = bench->options_.threads,
                     .bind = {},
                     .progress = bench->options_.progress,
                     .interrupted = bench->options_.interrupted,
                     .goal = bench->options_.goal};
  judge.bind = [made = bench.get()](const Graph& graph, Recipe recipe) {
    return made->session_of(graph, std::move(recipe));
  };
  RUNG_TRY(bench->judge_, Judge::create(subject, std::move(inputs), std::move(judge), budget));
  return bench;
}

Result<Attempt> Workbench::bind(const Graph& graph, Recipe recipe) {
  last_recipe_ = recipe;
  double begin = budget_.spent();
  malloc_trim(0);  // returns memory that earlier attempts freed before this one allocates its own
  RUNG_TRY(Built built, build_plan(graph, recipe, {.target = options_.target, .weights = &weights_}));
  double built_at = budget_.spent();
  attach_model(built.plan, subject_);
  Attempt attempt;
  attempt.recipe = std::move(recipe);
  attempt.passes = std::move(built.passes);
  attempt.plan = std::make_shared<Plan>(std::move(built.plan));
  RUNG_TRY(auto team, team_of(attempt.recipe.threads));
  RUNG_TRY(Session session, Session::create(attempt.plan, std::move(team)));
  attempt.session = std::make_unique<Session>(std::move(session));
  log(2, "attempt: plan of {} steps made in {:.2f} s, bound in {:.2f} s", attempt.plan->steps.size(), built_at - begin,
      budget_.spent() - built_at);
  return attempt;
}

Result<std::unique_ptr<Session>> Workbench::session_of(const Graph& graph, Recipe recipe) {
  RUNG_TRY(Attempt attempt, bind(graph, std::move(recipe)));
  return std::move(attempt.session);
}

Result<std::shared_ptr<cpu::Team>> Workbench::team_of(int threads) {
  if (options_.target->gpu) return std::shared_ptr<cpu::Team>();
  auto& team = teams_[threads];
  if (!team) {
    RUNG_TRY(team, cpu::start_team(threads));
  }
  return team;
}

Result<Attempt> Workbench::attempt_unjudged(Recipe recipe) {
  RUNG_TRY(Attempt attempt, bind(subject_.model.graph, std::move(recipe)));
  RUNG_TRY(static_cast<Judgement&>(attempt), judge_->error_of(*attempt.session));
  return attempt;
}

Result<Attempt> Workbench::attempt(Recipe recipe, int tuned_later) {
  if (recipe.tuned_kernels) {
    double seconds = tuning_allowance(budget_, tuning_seconds_, tuned_later);
    RUNG_TRY(recipe, with_choices(std::move(recipe), seconds));
  }
  return attempt_as_is(std::move(recipe));
}

Result<Attempt> Workbench::attempt_as_is(Recipe recipe) {
  RUNG_CHECK(judge_->prepare_for(recipe));
  RUNG_TRY(Attempt attempt, bind(subject_.model.graph, std::move(recipe)));
  RUNG_TRY(static_cast<Judgement&>(attempt), judge_->judge(*attempt.session, attempt.recipe));
  return attempt;
}

Result<Recipe> Workbench::with_choices(Recipe recipe, double tuning_seconds) {
  RUNG_TRY(Built built, build_plan(subject_.model.graph, recipe, {.target = options_.target, .contents = false}));
  std::vector<TuneTask> tasks = tasks_of(built.plan);
  size_t working_set = built.plan.weight_bytes();
  Budget clock(tuning_seconds);
  double saved_s = 0;
  const auto progress = [&](size_t done, size_t of) {
    if (options_.progress) options_.progress("tuning", done, of);
    if (clock.spent() - saved_s < kUnsavedSeconds) return;
    save_tuning();
    saved_s = clock.spent();
  };
  tune(tasks, database_, {[&] { return clock.left(); }, options_.interrupted, progress, working_set, doubted_});
  tuning_seconds_ += clock.spent();
  save_tuning();
  std::map<std::string, KernelChoice, std::less<>> choices;
  for (const TuneTask& task : tasks) {
    auto kept = recipe.choices.find(task.key);
    if (kept != recipe.choices.end())
      choices[task.key] = kept->second;
    else if (const auto* entry = valid_entry(database_, task))
      choices[task.key] = choice_of(*entry, task);
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
  if (database_.path().empty())
    return words::counted(tuned, "tuned problem is", "tuned problems are") + " kept in no file";
  std::string kept = fmt::format("{} of {} tuned problems are kept in {}", saved, tuned, database_.path());
  return saved < tuned ? kept + ": " + unsaved_reason_ : kept;
}

double tuning_allowance(const Budget& budget, double tuning_seconds, int tuned_later) {
  const double unspent = kSchedule.tuning_share * budget.total() - tuning_seconds;
  return std::min(unspent, kSchedule.tuning_share_of_rest * budget.left()) / (1 + tuned_later);
}

}  // namespace rung
