// The changes that a climb tries, in the order of their promise: by what earlier climbs of the same launches found or,
// without any, by the profile of the plan that it began with.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/words.hpp"
#include "ladder/climber.hpp"

namespace rung {

// Returns the promise by what an earlier climb of these launches found or, if there was none, by the time that the
// rung's launches take above their floors.
double Climber::promise_of(const Turn& turn) const {
  const RefinedModel* known = bench_->database().find_model(start_name_);
  if (known && known->gains.contains(turn.name())) return (1 - 1 / known->gains.at(turn.name())) * start_ms_ * 1e3;
  const Rung& rung = *turn.rung;
  double us = (rung.touches & bits_of(Category::launch)) != 0 ? start_host_us_ : 0;
  for (const OpTime& op : start_ops_)
    if ((rung.touches & bits_of(op.category)) != 0) us += std::max(0.0, op.us - op.floor_us);
  return (turn.without ? kSchedule.without_reach : 1) * rung.reach * us;
}

std::vector<Turn> Climber::turns() const {
  std::vector<Turn> all;
  for (const Rung& rung : ladder()) {
    if (is_open(rung))
      all.push_back({&rung, false});
    else if (default_.is_start && accepted_.contains(rung.name))
      all.push_back({&rung, true});
  }
  for (Turn& turn : all) turn.promise = promise_of(turn);
  std::ranges::stable_sort(all, [](const Turn& a, const Turn& b) {
    return std::pair(-a.promise, a.without) < std::pair(-b.promise, b.without);
  });
  return all;
}

// Saves gains for later climbs of the same launches.
void Climber::remember_gains() {
  RefinedModel model;
  if (const RefinedModel* known = bench_->database().find_model(start_name_)) model = *known;
  for (const Rung& rung : ladder())
    for (const Turn& turn : {Turn{&rung, false}, Turn{&rung, true}})
      for (const Receipt& receipt : result_.rungs)
        if (receipt.name == turn.name() && receipt.pairs > 0) model.gains[receipt.name] = receipt.ratio;
  if (!model.gains.empty()) bench_->database().put_model(start_name_, std::move(model));
}

// Tries half of the threads, and half of these, while that is faster: beside other programs, or with little to share, a
// team waits for its slowest thread.
Status Climber::try_threads() {
  if (!options_.may_change_threads || options_.target->gpu) return {};
  for (int threads = options_.threads / 2; threads >= 1; threads /= 2) {
    const std::string name = words::counted(threads, "thread");
    RUNG_CHECK(tell(name));
    Receipt receipt = new_receipt(name, 1);
    if (!has_time_to_try()) return refuse(std::move(receipt), std::string(kNoTime)), Status{};
    Recipe recipe = current_.recipe;
    recipe.threads = threads;
    RUNG_TRY(StepTrial trial, trial_of(bench_->attempt_as_is(std::move(recipe)), {}, std::move(receipt)));
    if (trial.candidate) RUNG_CHECK(judge_step(trial));
    if (!enter(std::move(trial.receipt), std::move(trial.candidate))) return {};
    machine_peaks(current_.session->team(), budget_.share(kSchedule.peaks), peaks_file());
  }
  return {};
}

// Tries the plan without a rung that opening the model turns on. Its loss is the rung's worth.
Status Climber::try_without(const Turn& turn) {
  const Rung& rung = *turn.rung;
  RUNG_CHECK(tell(turn.name()));
  Recipe recipe = current_.recipe;
  rung.remove(recipe);
  if (!recipe.choices.empty()) {
    RUNG_TRY(recipe, bench_->with_choices(std::move(recipe), 0));
  }
  RUNG_TRY(StepTrial trial, trial_of(bench_->attempt_as_is(std::move(recipe)), {}, new_receipt(turn.name(), 1)));
  if (trial.candidate) RUNG_CHECK(judge_step(trial));
  const Receipt receipt = trial.receipt;
  if (enter(std::move(trial.receipt), std::move(trial.candidate)) || receipt.reason == kSameLaunches)
    accepted_.erase(std::string(rung.name));
  else if (receipt.pairs > 0)
    worth_[std::string(rung.name)] = {
        std::string(rung.name), 1 / receipt.ratio, {1 / receipt.ci95.hi, 1 / receipt.ci95.lo}};
  return {};
}

}  // namespace rung
