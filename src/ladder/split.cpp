// Halves changes that lose, until the parts that win are left.
// SPDX-License-Identifier: Apache-2.0
#include "ladder/split.hpp"

#include <algorithm>

#include "base/words.hpp"
#include "ladder/climber.hpp"
#include "ladder/refine.hpp"
#include "passes/pipeline.hpp"
#include "tune/plan_tasks.hpp"

namespace rung {

void Part::add_to(Recipe& recipe) const {
  if (pass.empty())
    recipe.choices[problem] = choice;
  else
    recipe.disabled_passes.erase(pass);
}

std::string Part::text() const { return pass.empty() ? text_of(problem, choice) : pass; }

std::map<std::string, KernelChoice, std::less<>> kernels_of(const Plan& plan, const std::vector<TuneTask>& tasks) {
  std::map<std::string, KernelChoice, std::less<>> kernels;
  for (const Step& step : plan.steps)
    if (std::ranges::find(tasks, step.problem, &TuneTask::key) != tasks.end()) kernels[step.problem] = step.choice;
  return kernels;
}

std::vector<Part> parts_of_choices(const Plan& current, const Plan& candidate, std::vector<TuneTask> tasks) {
  std::ranges::stable_sort(tasks, std::ranges::greater{}, &TuneTask::headroom);
  const auto before = kernels_of(current, tasks), after = kernels_of(candidate, tasks);
  std::vector<Part> parts;
  for (const TuneTask& task : tasks) {
    const auto was = before.find(task.key), is = after.find(task.key);
    if (was != before.end() && is != after.end() && !(was->second == is->second))
      parts.push_back({.problem = task.key, .choice = is->second, .pass = {}});
  }
  return parts;
}

std::vector<Part> parts_of_passes(const PassReport& report, std::string_view rung) {
  std::vector<Part> parts;
  for (const auto& row : report.rows)
    if (row.rung == rung && row.changed) parts.push_back({.problem = {}, .choice = {}, .pass = row.name});
  return parts;
}

Recipe without_passes(Recipe recipe, const Rung& rung) {
  rung.apply(recipe);
  for (const Pass& pass : pipeline())
    if (pass.rung == rung.name) recipe.disabled_passes.insert(std::string(pass.name));
  return recipe;
}

Result<Standing> Climber::race_parts(std::span<const Part> parts, SplitTrial& split) {
  const Attempt& from = split.best ? *split.best : current_;
  Recipe recipe = split.best ? from.recipe : split.base;
  for (const Part& part : parts) part.add_to(recipe);
  auto candidate = parts[0].pass.empty() ? bench_->attempt_as_is(std::move(recipe))
                                         : bench_->attempt(std::move(recipe), split.tuned_later);
  if (device_failed(candidate)) return tl::unexpected(candidate.error());
  if (!candidate || !candidate->right) return Standing::slower;
  if (same_launches(*candidate->plan, *from.plan)) return Standing::same;
  const RaceRule rule = with_pairs(kSchedule.parts).within(std::min(split.clock.left(), budget_.left()));
  RUNG_TRY(InterleaveResult raced, race(*from.session, *candidate->session, rule));
  const bool slower = raced.ratio.hi < 1;
  if (raced.ratio.lo <= 1 && (slower || !split.keeps_ties)) return slower ? Standing::slower : Standing::unclear;
  split.best = std::move(*candidate);
  split.kept += parts.size();
  return Standing::kept;
}

// Tries the set as a whole, then each of its halves on top of what won.
Status Climber::try_parts(std::span<const Part> parts, SplitTrial& split) {
  if (split.clock.left() <= 0 || !has_time_to_try()) return split.untried += parts.size(), Status{};
  RUNG_CHECK(tell(fmt::format("{} of {} parts", parts.size(), split.parts.size())));
  RUNG_TRY(Standing standing, race_parts(parts, split));
  if (standing == Standing::kept || standing == Standing::same) return {};
  if (parts.size() > 1) return try_halves(parts, split);
  if (standing != Standing::slower) return {};
  split.lost.push_back(parts[0].text());
  if (parts[0].pass.empty()) bench_->database().mark_lost(parts[0].problem);
  return {};
}

Status Climber::try_halves(std::span<const Part> parts, SplitTrial& split) {
  RUNG_CHECK(try_parts(parts.first(parts.size() / 2), split));
  return try_parts(parts.subspan(parts.size() / 2), split);
}

// Returns the parts of a rung that did not win.
SplitTrial Climber::split_of(const Rung& rung, const Attempt& candidate) const {
  SplitTrial split{.base = current_.recipe, .clock = Budget(budget_.share(kSchedule.parts_share))};
  split.tuned_later = tuned_after(rung);
  if (candidate.recipe.rungs == current_.recipe.rungs) {  // the rung added only kernels
    const std::vector<TuneTask> tasks = tasks_of(*current_.plan);
    split.base = with_own_kernels();
    split.parts = parts_of_choices(*current_.plan, *candidate.plan, tasks);
  } else {
    split.base = without_passes(current_.recipe, rung);
    split.parts = parts_of_passes(candidate.passes, rung.name);
  }
  return split;
}

Recipe Climber::with_own_kernels() const {
  Recipe recipe = current_.recipe;
  recipe.tuned_kernels = true;
  recipe.choices.merge(kernels_of(*current_.plan, tasks_of(*current_.plan)));
  return recipe;
}

Status Climber::take_apart(const Rung& rung, StepTrial& trial) {
  SplitTrial split = split_of(rung, *trial.candidate);
  if (split.parts.size() == 1 && trial.is_slower() && split.parts[0].pass.empty())
    bench_->database().mark_lost(split.parts[0].problem);
  if (split.parts.size() < 2) return {};
  trial.candidate.reset();  // frees its memory
  RUNG_CHECK(try_halves(split.parts, split));
  trial.receipt.notes.push_back(fmt::format("taken apart: {} of {} parts kept", split.kept, split.parts.size()));
  for (const std::string& part : split.lost) trial.receipt.notes.push_back("slower on the whole model: " + part);
  if (split.untried > 0) trial.receipt.notes.push_back(words::counted(split.untried, "part") + " not tried: no time");
  if (!split.best) return {};
  trial.candidate = std::move(split.best);
  return judge_step(trial);
}

}  // namespace rung
