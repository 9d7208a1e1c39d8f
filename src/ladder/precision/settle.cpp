// Tries other kernels for the problems of a mixture in whole plans. A launch that is timed alone does not show what
// room it leaves its neighbours, for which defaults are made, nor what they leave in the caches.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ladder/precision/search.hpp"
#include "ladder/refine.hpp"
#include "ladder/split.hpp"
#include "measure/clock.hpp"
#include "plan/build.hpp"
#include "tune/plan_tasks.hpp"

namespace rung {
namespace {

constexpr double kSettleShare = 0.15;     // of the search's time, for one plan
constexpr double kWithinShare = 0.4;      // the same for a plan within the goal: no other precision is needed
constexpr double kSeenShare = 0.01;       // of a run, that a problem's launches must take for a race to show them
constexpr double kWholeTrialShare = 0.7;  // of a whole plan's trial, which measures its error too; a first guess

using Choices = std::map<std::string, KernelChoice, std::less<>>;

}  // namespace

// Returns the default choices of problems for which tuning chose others, then the choices that were nearly as fast as
// the chosen ones; of each, the problems that take most time come first. The problems of the plan to begin with are
// left out: the rung tune had its turn.
Result<std::vector<ModelTrial>> PrecisionSearch::unsettled(const Recipe& recipe, double run_us) const {
  Workbench& bench = *services_.bench;
  const auto listed = [&](const Recipe& of) {
    return build_plan(bench.subject().model.graph, of, {.target = &bench.target(), .contents = false});
  };
  Recipe plain = recipe;
  plain.choices.clear();
  RUNG_TRY(const Built by_default, listed(plain));
  RUNG_TRY(const Built built, listed(recipe));
  std::vector<TuneTask> tasks = tasks_of(built.plan);
  std::erase_if(tasks, [&](const TuneTask& task) { return services_.start->recipe.choices.contains(task.key); });
  const Choices defaults = kernels_of(by_default.plan, tasks), chosen = kernels_of(built.plan, tasks);
  std::vector<ModelTrial> found;
  for (const TuneTask& task : tasks) {
    const auto* entry = valid_entry(bench.database(), task);
    const auto plain_choice = defaults.find(task.key), choice = chosen.find(task.key);
    if (!entry || plain_choice == defaults.end() || choice == chosen.end()) continue;
    if (plain_choice->second == choice->second || tried_.contains(text_of(task.key, plain_choice->second))) continue;
    found.push_back({.key = task.key, .choice = plain_choice->second, .problem_us = task.count * best_us(*entry)});
  }
  std::ranges::stable_sort(found, std::greater(), &ModelTrial::problem_us);
  for (ModelTrial& near : trials_of(tasks, bench.database(), recipe, tried_)) found.push_back(std::move(near));
  drop_short(found, kSeenShare * run_us);
  return found;
}

// Returns whether the plan is faster with the choice; then it stands in `best`.
Result<bool> PrecisionSearch::settle_choice(const ModelTrial& trial, Attempt& best) {
  RUNG_CHECK(services_.tell(fmt::format("precision: another kernel of {}", trial.key)));
  const KernelChoice& before = best.recipe.choices.at(trial.key);
  const KernelChoice choice = changed(before, trial.choice);  // an earlier trial may have changed another parameter
  settled_[trial.key] = before;
  const std::string text = text_of(trial.key, choice);
  if (choice == before || !tried_.insert(text).second) return false;
  Recipe recipe = best.recipe;
  recipe.choices[trial.key] = choice;
  RUNG_TRY(auto attempt, built(recipe, text));
  if (!attempt) return false;
  RUNG_TRY(const Speedup speedup, services_.race_two(*best.session, *attempt->session));
  if (!speedup.is_faster()) return false;
  note(fmt::format("{} makes the plan {:.3f} x faster", text, speedup.ratio));
  settled_[trial.key] = choice;
  best = std::move(*attempt);
  return true;
}

// The winners are the choices of later mixtures, too.
Status PrecisionSearch::settle(size_t index) {
  const auto trials = unsettled(wholes_[index].recipe, 1e3 * wholes_[index].report.speedup.after_ms);
  if (!trials) return note(fmt::format("other kernels are not tried: {}", trials.error().message)), Status{};
  if (trials->empty() || !has_time_beside(0)) return {};
  RUNG_TRY(auto best, built(wholes_[index].recipe, "the plan whose kernels are tried"));
  if (!best) return {};
  bool has_winner = false;
  double longest = kWholeTrialShare * trial_s_, spent = 0;
  const double share = wholes_[index].report.meets_goal ? kWithinShare : kSettleShare;
  for (size_t i = 0; i < trials->size() && spent + longest <= share * seconds_ && has_time_beside(0); ++i) {
    const int64_t began = now_ns();
    RUNG_TRY(const bool won, settle_choice((*trials)[i], *best));
    has_winner = has_winner || won;
    const double seconds = static_cast<double>(now_ns() - began) * 1e-9;
    longest = i == 0 ? seconds : std::max(longest, seconds), spent += seconds;
  }
  if (!has_winner) return {};
  const MixedPrecision mixture = wholes_[index].mixture;
  const WholeReport before = wholes_[index].report;
  RUNG_TRY(const Whole* whole, add_whole(std::move(*best), mixture, before.name));
  if (!whole) return {};
  std::swap(wholes_[index], wholes_.back());
  wholes_.pop_back();
  wholes_[index].report.predicted_us = before.predicted_us;
  wholes_[index].report.predicted_rel_l2 = before.predicted_rel_l2;
  return {};
}

// The fastest plan within the goal, or of all, is settled: so its kernels are those of the mixtures that follow.
Status PrecisionSearch::settle_fastest(bool within_goal) {
  std::optional<size_t> fastest;
  for (size_t i = 0; i < wholes_.size(); ++i) {
    const WholeReport& one = wholes_[i].report;
    if (within_goal && !one.meets_goal) continue;
    if (!fastest || one.speedup.ratio > wholes_[*fastest].report.speedup.ratio) fastest = i;
  }
  return fastest ? settle(*fastest) : Status{};
}

}  // namespace rung
