// Starts a climb from the baseline, or from the default plan, which is raced with it at once; and derives what the
// budget allows.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "base/log.hpp"
#include "base/words.hpp"
#include "ladder/climber.hpp"
#include "ladder/refine.hpp"
#include "open/recipe.hpp"
#include "tune/plan_tasks.hpp"

namespace rung {
namespace {

// Returns the distance between the fastest and the slowest run, which bounds the log ratio of two.
double spread(const Latency& runs) {
  return runs.runs > 2 && runs.min_ms > 0 ? std::log(runs.p99_ms / runs.min_ms) : 0;
}

}  // namespace

Status Climber::prepare() {
  stages_ = 2 * ladder().size() + 7;
  RUNG_CHECK(tell("reference"));
  WorkbenchOptions bench{.target = options_.target,
                         .threads = options_.threads,
                         .database_path = options_.database_path,
                         .interrupted = options_.interrupted,
                         .goal = options_.goal};
  bench.progress = [this](const std::string& what, size_t done, size_t of) {
    options_.progress(fmt::format("{} {}/{}", what, done, of),
                      static_cast<double>(stages_done_) / static_cast<double>(stages_));
  };
  RUNG_TRY(bench_, Workbench::create(subject_, options_.inputs, std::move(bench), budget_));
  ++stages_done_;
  RUNG_CHECK(tell("baseline"));
  double before = budget_.spent();
  RUNG_TRY(current_, bench_->attempt_as_is(baseline_recipe(options_.threads, everywhere(dtype()))));
  attempt_s_ = baseline_build_s_ = budget_.spent() - before;
  if (!current_.right) return fail("the baseline's answer is wrong: {}", current_.reason);
  budget_.keep(writing_seconds(static_cast<double>(current_.plan->weight_bytes())));
  if (!options_.target->gpu) machine_peaks(current_.session->team(), budget_.share(kSchedule.peaks), peaks_file());
  const double seconds = budget_.share(kSchedule.baseline);
  RUNG_CHECK(current_.session->set_inputs(options_.inputs[0]));
  RUNG_TRY(result_.baseline, time_runs(*current_.session, seconds));
  RUNG_TRY(Profile profile, profile_of_current(seconds));
  result_.baseline_categories_us = by_category_us(profile);
  start_ops_ = std::move(profile.ops), start_host_us_ = profile.host_us;
  result_.baseline_ms = current_ms_ = ladder_ms_ = result_.baseline.median_ms;
  noise_ = std::max(noise_, spread(result_.baseline));
  result_.kernels_before = static_cast<int>(current_.plan->steps.size());
  if (dtype() != DType::f32) accepted_.emplace("precision");
  ++stages_done_;
  return {};
}

Result<Profile> Climber::profile_of_current(double seconds) {
  return profile_session(*current_.session, options_.inputs[0], seconds, {}, peaks_file());
}

Recipe Climber::default_plan() const {
  Recipe recipe = default_recipe(options_.threads, dtype());
  for (const Rung& rung : ladder())
    if (options_.skip.contains(rung.name)) rung.remove(recipe);
  return recipe;
}

Status Climber::try_default() {
  RUNG_CHECK(tell(std::string(kDefaultPlan)));
  const double before = budget_.spent();
  std::vector<const Rung*> rungs;
  for (const Rung& rung : ladder()) rungs.push_back(&rung);
  const Recipe recipe = default_plan();
  RUNG_TRY(StepTrial trial, trial_of(bench_->attempt_as_is(recipe), rungs, new_receipt(std::string(kDefaultPlan), 1)));
  default_.build_s = budget_.spent() - before;
  if (trial.candidate) RUNG_CHECK(judge_step(trial));
  const Receipt& receipt = trial.receipt;
  const bool is_wrong = trial.candidate && !trial.candidate->right;
  const bool is_built = trial.candidate || receipt.reason == kSameLaunches;
  if (is_wrong || !is_built) {
    default_.refused = "the default plan is no choice here: " + receipt.reason;
    return add(std::move(trial.receipt)), start_from_baseline();
  }
  default_.recipe = trial.candidate ? recipe : current_.recipe;
  default_.speedup = trial.candidate ? last_race_ : Speedup::same_plan(current_ms_);
  if (trial.candidate && !trial.is_slower()) return start_from_default(std::move(trial));
  add(std::move(trial.receipt));
  return start_from_baseline();
}

Status Climber::start_from_baseline() {
  RUNG_CHECK(start_from_canonical());
  return plan_budget();
}

// Starts from the default plan, on a tie too: it runs without a climb, and no climb may end below it.
Status Climber::start_from_default(StepTrial trial) {
  default_.is_start = true;
  canonical_.reset();
  attempt_s_ = default_.build_s;
  if (!trial.receipt.accepted) {
    trial.receipt.reason += "; the climb starts from it, as it is what runs without a climb";
    current_ = std::move(*trial.candidate);
  }
  enter(std::move(trial.receipt), std::move(trial.candidate));
  current_ms_ = default_.speedup.after_ms;
  accept_default();
  default_.receipts = result_.rungs.size();
  RUNG_CHECK(profile_start());
  return plan_budget();
}

// Accepts all rungs but those that choose kernels by measurement.
void Climber::accept_default() {
  for (const Rung& rung : ladder())
    if (rung.how == How::edit && rung.name != kChoosesKernels && !rung.opt_in && !options_.skip.contains(rung.name))
      accepted_.emplace(rung.name);
}

// Profiles the start to say where to look first, if that takes little of the budget.
Status Climber::profile_start() {
  const double least_s = options_.target->gpu ? kSchedule.gpu_profile_s : kSchedule.pair_runs * current_ms_ * 1e-3;
  if (least_s > budget_.share(kSchedule.start_profile_share)) return {};
  RUNG_TRY(Profile profile, profile_of_current(budget_.share(kSchedule.baseline)));
  start_ops_ = std::move(profile.ops), start_host_us_ = profile.host_us;
  return {};
}

// Keeps time for the steps that must follow, and reports it if the rest is too short for all changes.
Status Climber::plan_budget() {
  ++stages_done_;
  start_ms_ = current_ms_;
  start_name_ = name_of_model(subject_.model.name, tasks_of(*current_.plan));
  const double pair_s = kSchedule.pair_runs * current_ms_ * 1e-3;
  final_s_ = std::max(kSchedule.final_plan.of(budget_.total()), closing_seconds());
  const double against_default_s = kSchedule.headline_slack * default_.build_s + kSchedule.guard_pairs * pair_s;
  const double cheaper_s = has_cheaper_precision() ? kSchedule.headline_slack * attempt_s_ + pair_s : 0;
  after_precision_s_ = final_s_ + against_default_s + cheaper_s;
  budget_.reserve(after_precision_s_ + (options_.goal.any() ? budget_.share(kSchedule.precision_share) : 0));
  const size_t wanted = turns().size();
  const double left_s = std::max(0.0, budget_.left()), all_s = static_cast<double>(wanted) * trial_seconds();
  if (left_s >= all_s) return {};
  const std::string enough = words::duration_ms(1e3 * kSchedule.roomy * (budget_.total() - left_s + all_s));
  const auto fit = static_cast<size_t>(left_s / trial_seconds());
  result_.budget_note =
      fit == 0
          ? fmt::format(
                "the budget of {} leaves no time to try changes (one takes {}): the climb measures and "
                "checks the better of baseline and default plan; {} would do",
                words::duration_ms(budget_.total() * 1e3), words::duration_ms(trial_seconds() * 1e3), enough)
          : fmt::format("the budget of {} leaves time for about {} of {} changes (one takes {}); {} would do for all",
                        words::duration_ms(budget_.total() * 1e3), fit, wanted,
                        words::duration_ms(trial_seconds() * 1e3), enough);
  log(0, "{}", result_.budget_note);
  return {};
}

}  // namespace rung
