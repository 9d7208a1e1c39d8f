// The rung "precision" with a stated error: what the search finds on top of what the climb accepted.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ladder/climber.hpp"
#include "ladder/precision/search.hpp"

namespace rung {

// Begins with the plan that the climb has got so far, whose kernels and rungs are settled.
Status Climber::choose_precision() {
  if (!options_.goal.any()) return {};
  budget_.release();
  budget_.reserve(after_precision_s_);
  ++stages_done_;
  Receipt receipt = new_receipt(std::string(kPrecisionRung), 1);
  PrecisionFound found;
  {
    SearchServices services{
        .bench = bench_.get(),
        .start = &current_,
        .inputs = &options_.inputs,
        .race = [this](Session& session, bool decides) { return race_with_current(session, decides); },
        .race_two = [this](Session& a, Session& b) { return race_two(a, b); },
        .tell = [this](const std::string& what) { return tell(what); },
        .seconds_left = [this] { return budget_.left(); },
        .first_trial_s = trial_seconds()};
    std::vector<PrecisionForm> forms = options_.forms;
    std::vector<std::string> notes;
    if (forms.empty()) forms = precision_forms(*current_.plan, notes);
    PrecisionSearch search(std::move(services), options_.goal, std::move(forms));
    RUNG_TRY(found, search.run());
    found.report.notes.insert(found.report.notes.begin(), notes.begin(), notes.end());
  }
  result_.precision_search = std::move(found.report);
  frontier_ = std::move(found.recipes);
  receipt.notes = result_.precision_search.notes;
  if (!found.chosen) {
    refuse(std::move(receipt), "no plan within the stated error was clearly faster");
    return {};
  }
  return take_precision(*found.chosen, std::move(receipt));
}

Result<Speedup> Climber::race_with_current(Session& session, bool decides) {
  const RaceRule look = kSchedule.mixture.within(kSchedule.mixture_share * budget_.left());
  const RaceRule rule = decides ? with_pairs(look).within(budget_.left()) : look;
  RUNG_TRY(const InterleaveResult raced, race(*current_.session, session, rule));
  return Speedup::of(raced);
}

Result<Speedup> Climber::race_two(Session& a, Session& b) {
  const RaceRule look = kSchedule.choice.within(kSchedule.mixture_share * budget_.left());
  const RaceRule rule = with_pairs(look).within(budget_.left());
  RUNG_TRY(const InterleaveResult raced, race(a, b, rule));
  return Speedup::of(raced);
}

// Builds the chosen plan once more: only the plan that will run was judged.
Status Climber::take_precision(size_t chosen, Receipt receipt) {
  const WholeReport& whole = result_.precision_search.wholes[chosen];
  auto built = bench_->attempt_as_is(frontier_[chosen]);
  if (device_failed(built)) return tl::unexpected(built.error());
  receipt.rel_l2 = whole.rel_l2;
  if (!built || !built->right) {
    refuse(std::move(receipt), built ? "wrong answer: " + built->reason : "cannot be built: " + built.error().message);
    return {};
  }
  receipt.accepted = true;
  receipt.ratio = whole.speedup.ratio;
  receipt.ci95 = whole.speedup.ci95;
  receipt.pairs = whole.speedup.pairs;
  receipt.ms = ladder_ms_ / receipt.ratio;
  receipt.kernels = static_cast<int>(built->plan->steps.size());
  receipt.max_abs = built->max_abs;
  receipt.reason = fmt::format("{:.2f} x faster", receipt.ratio);
  current_ms_ = whole.speedup.after_ms;
  const AblationRow worth{receipt.name, receipt.ratio, receipt.ci95};
  enter(std::move(receipt), std::move(*built));
  accepted_.emplace(kPrecisionRung);
  worth_.insert_or_assign(std::string(kPrecisionRung), worth);
  return {};
}

}  // namespace rung
