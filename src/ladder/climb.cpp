// The climb's course: baseline, rungs, rejected rungs again, ablation, conclusion.
// SPDX-License-Identifier: Apache-2.0
#include "ladder/climb.hpp"

#include <algorithm>

#include "base/log.hpp"
#include "ladder/climber.hpp"
#include "ladder/profile.hpp"
#include "ladder/refine.hpp"
#include "tune/gpu_worker.hpp"

namespace rung {

Result<ClimbOutcome> climb(const Subject& subject, const ClimbOptions& options) {
  Budget budget(options.budget_s, kSchedule.final_plan.of(options.budget_s), options.spent_s);
  const struct WorkerEnds {
    ~WorkerEnds() { end_gpu_worker(); }
  } with_the_climb;
  return Climber(subject, options, budget).run();
}

Result<ClimbOutcome> Climber::run() {
  auto outcome = all_stages();
  if (device_failed(outcome) && bench_) options_.device_failed(bench_->last_recipe());
  return outcome;
}

Result<ClimbOutcome> Climber::all_stages() {
  RUNG_CHECK(prepare());
  RUNG_CHECK(climb_rungs());
  RUNG_CHECK(ablate());
  return conclude();
}

Status Climber::tell(const std::string& what) {
  log(2, "after {:.2f} s: {}", budget_.spent(), what);
  options_.progress(what, static_cast<double>(stages_done_) / static_cast<double>(stages_));
  if (!options_.interrupted()) return {};
  if (bench_) bench_->save_tuning();  // what could not be saved before may be now
  return was_interrupted("interrupted; {}", bench_ ? bench_->account_of_tuning() : "nothing was tuned");
}

Status Climber::prepare() {
  stages_ = 2 * ladder().size() + 5;
  RUNG_CHECK(tell("reference"));
  WorkbenchOptions bench{.target = options_.target,
                         .threads = options_.threads,
                         .database_path = options_.database_path,
                         .interrupted = options_.interrupted};
  bench.progress = [this](const std::string& what, size_t done, size_t of) {
    options_.progress(fmt::format("{} {}/{}", what, done, of),
                      static_cast<double>(stages_done_) / static_cast<double>(stages_));
  };
  RUNG_TRY(bench_, Workbench::create(subject_, options_.inputs, std::move(bench), budget_));
  ++stages_done_;
  RUNG_CHECK(tell("baseline"));
  double before = budget_.spent();
  RUNG_TRY(current_, bench_->attempt(Recipe{.threads = options_.threads}));
  baseline_build_s_ = budget_.spent() - before;
  if (!current_.right) return fail("the baseline's answer is wrong: {}", current_.reason);
  budget_.keep(writing_seconds(static_cast<double>(current_.plan->weight_bytes())));
  if (!options_.target->gpu) machine_peaks(current_.session->team(), budget_.share(kSchedule.peaks));
  const double seconds = budget_.share(kSchedule.baseline);
  RUNG_CHECK(current_.session->set_inputs(options_.inputs[0]));
  RUNG_TRY(result_.baseline, time_runs(*current_.session, seconds));
  RUNG_TRY(Profile profile, profile_session(*current_.session, options_.inputs[0], seconds));
  result_.baseline_categories_us = by_category_us(profile);
  result_.baseline_ms = current_ms_ = result_.baseline.median_ms;
  result_.kernels_before = static_cast<int>(current_.plan->steps.size());
  ++stages_done_;
  return {};
}

bool Climber::is_open(const Rung& rung) const {
  if (options_.skip.contains(rung.name) || (rung.opt_in && options_.dtype == DType::f32)) return false;
  return !accepted_.contains(rung.name) || (rung.how == How::refine && is_outdated(rung, result_.rungs));
}

int Climber::tuned_after(const Rung& rung) const {
  const auto above = ladder().subspan(static_cast<size_t>(&rung - ladder().data()) + 1);
  return static_cast<int>(std::count_if(
      above.begin(), above.end(), [this](const Rung& later) { return later.how == How::edit && is_open(later); }));
}

Status Climber::climb_rungs() {
  for (int number = 1; number <= 2; ++number) {
    for (const Rung& rung : ladder()) {
      if (!is_open(rung)) continue;
      RUNG_CHECK(tell(std::string(rung.name)));
      if (number == 1 && budget_.left() < kSchedule.together_share * budget_.total())
        refuse({.name = std::string(rung.name), .before_ms = current_ms_}, "the budget leaves no time to try it alone");
      else
        RUNG_CHECK(rung.how == How::refine ? refine_choices(rung, number) : try_step({&rung}, number));
      ++stages_done_;
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
  size_t accepted = accepted_.size();
  RUNG_CHECK(try_step(open, 2));
  bool opted_in = std::erase_if(open, [](const Rung* rung) { return rung->opt_in; }) > 0;
  if (accepted_.size() > accepted || !opted_in || open.size() < 2) return {};
  return try_step(open, 2);  // it may be the low precision that was wrong, or slow
}

bool Climber::has_time_to_try() const { return budget_.left() > baseline_build_s_; }

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
