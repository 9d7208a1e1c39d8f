// Makes one step of the climb: a rung, or several, on top of what was accepted; built, judged, raced, taken up or not.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/log.hpp"
#include "ladder/climber.hpp"
#include "plan/joined.hpp"
#include "session/timed_run.hpp"
#include "tune/plan_tasks.hpp"

namespace rung {
namespace {

// Adds notes on what the rung's passes did, and the rung's own.
void add_notes(const Rung& rung, const Attempt& attempt, std::vector<std::string>& notes) {
  add_notes(rung.name, attempt.passes, notes);
  if (!rung.notes) return;
  for (const auto& note : rung.notes(*attempt.session)) notes.push_back(fmt::format("{}: {}", rung.name, note));
}

bool same_operand(const PlanOperand& a, const PlanOperand& b) {
  return a.storage == b.storage && a.index == b.index && a.offset == b.offset && a.view.dtype == b.view.dtype &&
         a.view.shape == b.view.shape && a.view.strides == b.view.strides;
}

}  // namespace

void add_notes(std::string_view rung, const PassReport& passes, std::vector<std::string>& notes) {
  for (const auto& row : passes.rows) {
    if (row.rung != rung) continue;
    if (row.changed) notes.push_back(fmt::format("{}: {} -> {} nodes", row.name, row.nodes_before, row.nodes_after));
    for (const auto& note : row.notes) notes.push_back(fmt::format("{}: {}", row.name, note));
  }
}

bool same_launches(const Plan& a, const Plan& b) {
  if (a.recipe.capture != b.recipe.capture || a.recipe.threads != b.recipe.threads) return false;
  if (a.steps.size() != b.steps.size() || steps_of_launches(a) != steps_of_launches(b)) return false;
  return std::equal(a.steps.begin(), a.steps.end(), b.steps.begin(), [](const Step& x, const Step& y) {
    return x.choice == y.choice && x.op == y.op && same_operand(x.output, y.output) &&
           std::equal(x.inputs.begin(), x.inputs.end(), y.inputs.begin(), y.inputs.end(), same_operand);
  });
}

Receipt Climber::new_receipt(std::string name, int number) const {
  return {.name = std::move(name),
          .before_ms = ladder_ms_,
          .ms = ladder_ms_,
          .kernels = static_cast<int>(current_.plan->steps.size()),
          .attempt = number};
}

Status Climber::try_step(const std::vector<const Rung*>& rungs, int number) {
  std::string names;
  for (const Rung* rung : rungs) names += (names.empty() ? "" : "+") + std::string(rung->name);
  Receipt receipt = new_receipt(std::move(names), number);
  if (!has_time_to_try()) return refuse(std::move(receipt), std::string(kNoTime)), Status{};
  RUNG_TRY(StepTrial trial, build_step(rungs, std::move(receipt)));
  if (trial.candidate) RUNG_CHECK(judge_step(trial));
  RUNG_TRY(bool changed, measure_again(rungs, trial));
  if (changed) RUNG_CHECK(judge_step(trial));
  if (trial.candidate && !trial.receipt.accepted && rungs.size() == 1) RUNG_CHECK(take_apart(*rungs[0], trial));
  if (enter(std::move(trial.receipt), std::move(trial.candidate)))
    for (const Rung* rung : rungs) accepted_.insert(std::string(rung->name));
  return {};
}

Result<StepTrial> Climber::build_step(const std::vector<const Rung*>& rungs, Receipt receipt) {
  Recipe recipe = current_.recipe;
  for (const Rung* rung : rungs) rung->apply(recipe);
  return trial_of(bench_->attempt(std::move(recipe), tuned_after(*rungs.back())), rungs, std::move(receipt));
}

Result<StepTrial> Climber::trial_of(Result<Attempt> built, const std::vector<const Rung*>& rungs, Receipt receipt) {
  if (device_failed(built)) return tl::unexpected(built.error());
  StepTrial trial{std::move(receipt), std::nullopt};
  if (!built) {
    trial.receipt.reason = "cannot be built: " + built.error().message;
    return trial;
  }
  for (const Rung* rung : rungs) add_notes(*rung, *built, trial.receipt.notes);
  if (!same_launches(*built->plan, *current_.plan))
    trial.candidate = std::move(*built);
  else
    trial.receipt.reason = kSameLaunches;
  return trial;
}

Status Climber::judge_step(StepTrial& trial) {
  Attempt& candidate = *trial.candidate;
  trial.receipt.kernels = static_cast<int>(candidate.plan->steps.size());
  trial.receipt.rel_l2 = candidate.rel_l2;
  trial.receipt.max_abs = candidate.max_abs;
  if (!candidate.right) return trial.receipt.reason = "wrong answer: " + candidate.reason, Status{};
  RUNG_TRY(trial.receipt, decide(std::move(trial.receipt), candidate));
  return {};
}

// Returns the problems whose kernels earlier climbs chose, as far as other ones run now: the others cannot have lost.
std::vector<std::string> Climber::suspects_in(const Attempt& lost) const {
  const auto now = kernels_of(*current_.plan, tasks_of(*current_.plan));
  std::vector<std::string> suspects;
  for (const auto& [problem, kernel] : kernels_of(*lost.plan, tasks_of(*lost.plan))) {
    const auto runs = now.find(problem);
    const bool is_new_here = lost.recipe.choices.contains(problem) && !current_.recipe.choices.contains(problem);
    const bool changes = runs == now.end() || !(runs->second == kernel);
    if (is_new_here && changes && bench_->database().is_old(problem)) suspects.push_back(problem);
  }
  return suspects;
}

Result<bool> Climber::measure_again(const std::vector<const Rung*>& rungs, StepTrial& trial) {
  if (!trial.is_slower() || !has_time_to_try()) return false;
  const Recipe lost = trial.candidate->recipe;
  const Receipt receipt = trial.receipt;
  const std::vector<std::string> suspects = suspects_in(*trial.candidate);
  for (const std::string& problem : suspects) bench_->doubt(problem);
  if (suspects.empty()) return false;
  trial.candidate.reset();  // frees its memory
  RUNG_TRY(trial, build_step(rungs, {.name = receipt.name,
                                     .before_ms = receipt.before_ms,
                                     .ms = receipt.before_ms,
                                     .kernels = receipt.kernels,
                                     .attempt = receipt.attempt}));
  if (!trial.candidate || !(trial.candidate->recipe == lost)) return trial.candidate.has_value();
  trial.receipt = receipt;
  return false;
}

Result<InterleaveResult> Climber::race(Session& a, Session& b, RaceRule rule) {
  RUNG_CHECK(a.set_inputs(options_.inputs[0]));
  RUNG_CHECK(b.set_inputs(options_.inputs[0]));
  int runs = static_cast<int>(std::clamp(3.0 / std::max(current_ms_, 1e-3), 1.0, 10.0));  // blocks of some milliseconds
  Interleaver interleaver({.half_width = rule.half_width,
                           .budget_s = rule.seconds,
                           .least_pairs = rule.least_pairs,
                           .min_pairs = kSchedule.race_least_pairs,
                           .runs = runs,
                           .settle_s = current_.plan->target->gpu ? kSchedule.settle_s : 0,
                           .noise = noise_,
                           .patience_s = rule.patience_s});
  RUNG_TRY(InterleaveResult raced, interleaver.compare(timed_runs(a), timed_runs(b)));
  log(2, "raced {} pairs in {:.2f} s: {:.4f} x faster", raced.a.size(), raced.spent_s, raced.ratio.ratio);
  return raced;
}

double Climber::seconds_of_pairs() const {
  const double pairs_s = kSchedule.race_pairs * kSchedule.pair_runs * current_ms_ * 1e-3;
  return std::min(pairs_s, kSchedule.race_most_share * budget_.total());
}

RaceRule Climber::with_pairs(RaceRule rule) const {
  rule.seconds = std::max(rule.seconds, seconds_of_pairs());
  return rule;
}

Result<Receipt> Climber::decide(Receipt receipt, Attempt& candidate) {
  const double seconds = std::max({kSchedule.race_least_s, budget_.share(kSchedule.race), seconds_of_pairs()});
  const double patience_s = kSchedule.race_patience.of(budget_.total());
  RUNG_TRY(InterleaveResult raced, race(*current_.session, *candidate.session,
                                        {std::min(seconds, budget_.left()), kSchedule.race_half_width, patience_s}));
  const Speedup& speedup = last_race_ = Speedup::of(raced);
  receipt.ratio = speedup.ratio;
  receipt.ci95 = speedup.ci95;
  receipt.pairs = speedup.pairs;
  receipt.accepted = speedup.is_faster();
  receipt.before_ms = ladder_ms_;
  receipt.ms = receipt.accepted ? ladder_ms_ / speedup.ratio : ladder_ms_;
  if (receipt.accepted)
    receipt.reason = fmt::format("{:.2f} x faster", speedup.ratio);
  else
    receipt.reason = speedup.is_slower() ? fmt::format("slower: {:.2f} x", speedup.ratio) : "no clear difference";
  current_ms_ = receipt.accepted ? speedup.after_ms : speedup.before_ms;
  return receipt;
}

bool Climber::enter(Receipt receipt, std::optional<Attempt> candidate) {
  const bool accepted = receipt.accepted;
  if (accepted) {
    current_ = std::move(*candidate);
    ladder_ms_ = receipt.ms;
    worth_.clear();
  }
  add(std::move(receipt));
  return accepted;
}

}  // namespace rung
