// Tries in whole plans the default kernels of problems for which tuning chose others: a launch that is timed alone does
// not show what room it leaves its neighbours, for which defaults are made.
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
constexpr double kSeenShare = 0.01;       // of a run, that a problem's launches must take for a race to show them
constexpr double kWholeTrialShare = 0.7;  // of a whole plan's trial, which measures its error too

using Choices = std::map<std::string, KernelChoice, std::less<>>;

}  // namespace

// Returns the default choices of a plan's problems for which others were only measured alone, those of the problems
// that take most time first.
Result<std::vector<std::pair<std::string, KernelChoice>>> PrecisionSearch::unsettled(const Recipe& recipe,
                                                                                     double run_us) const {
  Workbench& bench = *services_.bench;
  const auto listed = [&](const Recipe& of) {
    return build_plan(bench.subject().model.graph, of, {.target = &bench.target(), .contents = false});
  };
  Recipe plain = recipe;
  plain.choices.clear();
  RUNG_TRY(const Built by_default, listed(plain));
  RUNG_TRY(const Built built, listed(recipe));
  const std::vector<TuneTask> tasks = tasks_of(built.plan);
  const Choices defaults = kernels_of(by_default.plan, tasks), chosen = kernels_of(built.plan, tasks);
  std::vector<std::pair<double, std::pair<std::string, KernelChoice>>> timed;
  for (const TuneTask& task : tasks) {
    const auto* entry = valid_entry(bench.database(), task);
    const auto plain_choice = defaults.find(task.key), choice = chosen.find(task.key);
    if (!entry || plain_choice == defaults.end() || choice == chosen.end()) continue;
    if (plain_choice->second == choice->second || settled_.contains(task.key)) continue;
    if (services_.start->recipe.choices.contains(task.key)) continue;  // the rung tune had its turn
    const double us = task.count * best_us(*entry);
    if (us >= kSeenShare * run_us) timed.push_back({us, *plain_choice});
  }
  std::ranges::stable_sort(timed, [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::pair<std::string, KernelChoice>> found;
  for (auto& [us, choice] : timed) found.push_back(std::move(choice));
  return found;
}

// The winners are the choices of later mixtures, too.
Status PrecisionSearch::settle(size_t index) {
  const MixedPrecision mixture = wholes_[index].mixture;
  Recipe best = wholes_[index].recipe;
  Speedup fastest = wholes_[index].report.speedup;
  const auto defaults = unsettled(best, 1e3 * fastest.after_ms);
  if (!defaults) return note(fmt::format("default kernels are not tried: {}", defaults.error().message)), Status{};
  std::optional<Attempt> winner;
  const int64_t began = now_ns();
  for (const auto& [key, choice] : *defaults) {
    const double spent = static_cast<double>(now_ns() - began) * 1e-9;
    if (spent + kWholeTrialShare * trial_s_ > kSettleShare * seconds_ || !has_time_beside(0)) break;
    RUNG_CHECK(services_.tell(fmt::format("precision: the default kernel of {}", key)));
    Recipe recipe = best;
    recipe.choices[key] = choice;
    RUNG_TRY(auto attempt, built(recipe, key));
    if (!attempt) continue;
    RUNG_TRY(const Speedup speedup, services_.race(*attempt->session));
    settled_[key] = best.choices.at(key);
    if (speedup.ci95.lo <= fastest.ratio) continue;
    note(fmt::format("{}: its default kernel makes the plan {:.3f} x faster", key, speedup.ratio / fastest.ratio));
    settled_[key] = choice;
    best = std::move(recipe), fastest = speedup;
    winner = std::move(*attempt);
  }
  if (!winner) return {};
  const WholeReport before = wholes_[index].report;
  RUNG_TRY(const Whole* whole, add_whole(std::move(*winner), mixture, before.name));
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
