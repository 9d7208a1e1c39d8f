// Keeps the promise that a climb does not end below the plan that opening the model gives: the last race of the two.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ladder/climber.hpp"

namespace rung {

Status Climber::race_no_climb() {
  Speedup& claim = result_.against_no_climb;
  if (!default_.recipe) return claim = Speedup::none(0, current_ms_, default_.refused), Status{};
  claim = Speedup::same_plan(current_ms_);
  if (current_.recipe == *default_.recipe) return {};
  RUNG_CHECK(tell("against no climb"));
  auto built = bench_->attempt_as_is(*default_.recipe);
  if (device_failed(built)) return tl::unexpected(built.error());
  if (!built || !built->right) {
    const std::string why = built ? built->reason : built.error().message;
    return claim = Speedup::none(0, current_ms_, "the default plan is gone: " + why), Status{};
  }
  if (same_launches(*built->plan, *current_.plan)) return {};
  RUNG_TRY(claim, race_default(*built->session));
  if (default_.is_start ? claim.is_faster() : !claim.is_slower()) return {};
  return_to_default(std::move(*built));
  return {};
}

// Noise may hide a gain of which every part won its own race: a race without a clear end is run once more, for twice
// as long, while the budget lasts.
Result<Speedup> Climber::race_default(Session& session) {
  RaceRule rule = with_pairs(kSchedule.guard).within(kSchedule.headline_share_of_rest * budget_.left());
  for (int look = 1;; ++look) {
    RUNG_TRY(const InterleaveResult raced, race(session, *current_.session, rule));
    const Speedup speedup = Speedup::of(raced);
    const bool is_clear = speedup.is_faster() || speedup.is_slower() || speedup.ratio <= 1;
    rule.seconds *= 2;
    if (is_clear || look == kSchedule.guard_looks || budget_.left() < rule.seconds) return speedup;
  }
}

// Gives up all changes: each won its own race, but all of them together did not.
void Climber::return_to_default(Attempt plan) {
  for (size_t i = default_.is_start ? default_.receipts : 0; i < result_.rungs.size(); ++i) {
    Receipt& receipt = result_.rungs[i];
    if (!receipt.accepted || receipt.name == kCanonicalRung) continue;
    receipt.accepted = false;
    receipt.reason += "; given up, as all changes together were not faster than the default plan";
  }
  current_ = std::move(plan);
  std::erase_if(accepted_, [this](const std::string& name) {
    return !rung_named(name)->opt_in || options_.goal.any();  // chosen by this climb
  });
  for (WholeReport& whole : result_.precision_search.wholes) whole.chosen = false;
  worth_.clear();
  accept_default();
  current_ms_ = result_.against_no_climb.before_ms;
  result_.against_no_climb = Speedup::same_plan(current_ms_);
}

}  // namespace rung
