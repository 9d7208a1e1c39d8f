// The climb's course: baseline, rungs, rejected rungs again, ablation, conclusion.
// SPDX-License-Identifier: Apache-2.0
#include "ladder/climb.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/log.hpp"
#include "ladder/climber.hpp"
#include "ladder/profile.hpp"
#include "ladder/refine.hpp"
#include "tune/gpu_worker.hpp"

namespace rung {

namespace {

// A goal without kl wants no logits, and answers that it cannot compare are a mistake of the caller.
Status check_goal(const Model& model, const PrecisionGoal& goal) {
  if (!goal.kl) return {};
  std::vector<std::string> names;
  for (const Output& output : model.graph.outputs()) names.push_back(output.name);
  if (std::ranges::find(names, kLogits) != names.end()) return {};
  const std::string got = fmt::format("{}", fmt::join(names, ", "));
  return mismatch("a limit of the divergence: got a model with the outputs {}, wanted one of the name {}", got,
                  kLogits);
}

// The reference of a climb with a goal has the watched values as outputs, too.
Status watch(Subject& subject) {
  for (const std::string& label : subject.model.watched) RUNG_CHECK(observe(subject.reference, label));
  return {};
}

Result<ClimbOutcome> climb_subject(const Subject& subject, const ClimbOptions& options) {
  Budget budget(options.budget_s, kSchedule.final_plan.of(options.budget_s), options.spent_s);
  const struct WorkerEnds {
    ~WorkerEnds() { end_gpu_worker(); }
  } with_the_climb;
  return Climber(subject, options, budget).run();
}

}  // namespace

Result<ClimbOutcome> climb(const Subject& subject, const ClimbOptions& options) {
  if (!options.goal.any()) return climb_subject(subject, options);
  RUNG_CHECK(check_goal(subject.model, options.goal));
  Subject watched = subject;
  RUNG_CHECK(watch(watched));
  return climb_subject(watched, options);
}

Result<ClimbOutcome> Climber::run() {
  auto outcome = all_stages();
  if (device_failed(outcome) && bench_) options_.device_failed(bench_->last_recipe());
  return outcome;
}

Result<ClimbOutcome> Climber::all_stages() {
  RUNG_CHECK(prepare());
  RUNG_CHECK(measure_canonical());
  RUNG_CHECK(try_default());
  RUNG_CHECK(check_reach(options_.goal, current_));
  RUNG_CHECK(as_trial(&Climber::climb_rungs));
  RUNG_CHECK(as_trial(&Climber::choose_precision));
  budget_.release();
  RUNG_CHECK(as_trial(&Climber::race_no_climb));
  budget_.reserve(final_s_ + headline_seconds());
  RUNG_CHECK(as_trial(&Climber::ablate));
  return conclude();
}

Status Climber::as_trial(Status (Climber::*stage)()) {
  const double before = budget_.spent();
  Status done = (this->*stage)();
  result_.trials_s += budget_.spent() - before;
  return done;
}

Status Climber::tell(const std::string& what) {
  log(2, "after {:.2f} s: {}", budget_.spent(), what);
  options_.progress(what, static_cast<double>(stages_done_) / static_cast<double>(stages_));
  if (!options_.interrupted()) return {};
  if (bench_) bench_->save_tuning();  // saves what could not be saved before
  return was_interrupted("interrupted; {}", bench_ ? bench_->account_of_tuning() : "nothing was tuned");
}

bool Climber::is_open(const Rung& rung) const {
  if (options_.skip.contains(rung.name) || rung.opt_in) return false;
  return !accepted_.contains(rung.name) || (rung.how == How::refine && is_outdated(rung, result_.rungs));
}

int Climber::tuned_after(const Rung& rung) const {
  const auto above = ladder().subspan(static_cast<size_t>(&rung - ladder().data()) + 1);
  return static_cast<int>(std::count_if(
      above.begin(), above.end(), [this](const Rung& later) { return later.how == How::edit && is_open(later); }));
}

Status Climber::climb_rungs() { return default_.is_start ? climb_from_default() : climb_from_baseline(); }

Status Climber::take_turn(const Rung& rung, int number) {
  RUNG_CHECK(tell(std::string(rung.name)));
  ++stages_done_;
  return rung.how == How::refine ? refine_choices(rung, number) : try_step({&rung}, number);
}

// Climbs with all rungs on: it chooses kernels, and looks for rungs that do harm.
Status Climber::climb_from_default() {
  RUNG_CHECK(try_threads());
  for (const Turn& turn : turns()) {
    if (!turn.without)
      RUNG_CHECK(take_turn(*turn.rung, 1));
    else if (has_time_to_try())
      RUNG_CHECK(try_without(turn));
    else
      ++result_.untried;
  }
  const Rung& tune = *rung_named("tune");
  return is_open(tune) && is_outdated(tune, result_.rungs) ? take_turn(tune, 2) : Status{};
}

Status Climber::climb_from_baseline() {
  RUNG_CHECK(try_threads());
  for (int number = 1; number <= 2; ++number) {
    for (const Turn& turn : turns()) {
      if (!is_open(*turn.rung)) continue;
      if (number == 1 && budget_.left() < kSchedule.together_share * budget_.total())
        refuse(new_receipt(std::string(turn.rung->name), 1), std::string(kNoTimeAlone));
      else
        RUNG_CHECK(take_turn(*turn.rung, number));
    }
    if (number == 1) RUNG_CHECK(try_open_rungs_together());
  }
  return {};
}

Status Climber::try_open_rungs_together() {
  std::vector<const Rung*> open;
  for (const Rung& rung : ladder())
    if (rung.how == How::edit && is_open(rung)) open.push_back(&rung);
  if (open.size() < 2) return {};
  RUNG_CHECK(tell("rejected rungs together"));
  return try_step(open, 2);
}

double Climber::trial_seconds() const { return attempt_s_ + kSchedule.pair_runs * current_ms_ * 1e-3; }

void Climber::add(Receipt receipt) {
  result_.rungs.push_back(std::move(receipt));
  options_.decided(result_.rungs.back());
}

void Climber::refuse(Receipt receipt, std::string reason) {
  receipt.accepted = false;
  receipt.reason = std::move(reason);
  receipt.ms = receipt.before_ms;
  add(std::move(receipt));
}

}  // namespace rung
