// The canonical forms, which every plan has but the baseline's: their gain is measured separately, so that no rung
// takes the credit.
// SPDX-License-Identifier: Apache-2.0
#include "ladder/climber.hpp"

namespace rung {
namespace {

Recipe in_canonical_form(Recipe recipe) {
  recipe.as_written = false;
  return recipe;
}

}  // namespace

// Leaves the baseline as the current plan: the default plan is raced with it, and is the first choice to begin from.
Status Climber::measure_canonical() {
  RUNG_CHECK(tell(std::string(kCanonicalRung)));
  Receipt receipt = new_receipt(std::string(kCanonicalRung), 1);
  if (budget_.left() < kSchedule.canonical_trials * trial_seconds())
    return refuse(std::move(receipt), std::string(kNoTimeAlone)), Status{};
  RUNG_TRY(StepTrial trial,
           trial_of(bench_->attempt_as_is(in_canonical_form(current_.recipe)), {}, std::move(receipt)));
  if (!trial.candidate) return add(std::move(trial.receipt)), Status{};
  RUNG_CHECK(judge_step(trial));
  add_notes(kCanonicalRung, trial.candidate->passes, trial.receipt.notes);
  if (trial.candidate->right) {
    current_ms_ = last_race_.before_ms;
    trial.receipt.reason += "; every plan below has them";
    canonical_ = std::move(trial.candidate);
    canonical_ms_ = trial.receipt.ms;
  }
  add(std::move(trial.receipt));
  return {};
}

// Takes the baseline in canonical form as the start of a climb that does not begin with the default plan.
Status Climber::start_from_canonical() {
  if (!canonical_) {
    auto built = bench_->attempt_as_is(in_canonical_form(current_.recipe));
    if (device_failed(built)) return tl::unexpected(built.error());
    if (!built || !built->right) return {};  // each rung's receipt says why
    current_ = std::move(*built);
    return {};
  }
  current_ = std::move(*canonical_);
  canonical_.reset();
  ladder_ms_ = canonical_ms_;
  current_ms_ = current_ms_ * canonical_ms_ / result_.baseline_ms;
  return {};
}

}  // namespace rung
