// Makes the climb's result: the headline, the final plan's measurements and profile, and the machine that gave them.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ladder/climber.hpp"
#include "ladder/measure_runs.hpp"
#include "ladder/profile.hpp"
#include "ladder/stages.hpp"
#include "measure/environment.hpp"
#include "measure/resources.hpp"
#include "tune/gpu_worker.hpp"
#include "tune/plan_tasks.hpp"

namespace rung {
namespace {

std::string shapes_text(const Plan& plan) {
  std::string text;
  for (const auto& input : plan.inputs) text += fmt::format("{}{}={}", text.empty() ? "" : " ", input.name, input.type);
  for (const auto& frozen : plan.frozen)
    text += fmt::format("{}{}={} (frozen)", text.empty() ? "" : " ", frozen.name, frozen.value.type());
  return text;
}

}  // namespace

double Climber::headline_seconds() const {
  const double pair_s = kSchedule.pair_runs / 2 * (result_.baseline_ms + current_ms_) * 1e-3;
  return kSchedule.headline_slack * baseline_build_s_ + pair_s;
}

// Makes the climb's headline: the first plan against the last one, in alternation, as every rung was judged. Their own
// measurements lie a climb apart, and the machine's load may have changed meanwhile.
Status Climber::race_baseline() {
  Speedup& claim = result_.against_baseline;
  const Recipe first = baseline_recipe(options_.threads, everywhere(dtype()));
  claim = Speedup::same_plan(current_ms_);
  if (current_.recipe == first) return {};
  const bool is_default = default_.recipe && current_.recipe == *default_.recipe;
  claim = is_default ? default_.speedup : Speedup::none(result_.baseline_ms, 0, kNoRace);
  if (budget_.left() < headline_seconds()) return {};
  RUNG_TRY(Attempt baseline, bench_->attempt_as_is(first));
  if (same_launches(*baseline.plan, *current_.plan)) return claim = Speedup::same_plan(current_ms_), Status{};
  const RaceRule rule = with_pairs(kSchedule.headline).within(kSchedule.headline_share_of_rest * budget_.left());
  RUNG_TRY(InterleaveResult raced, race(*baseline.session, *current_.session, rule));
  claim = Speedup::of(raced);
  return {};
}

// Uses the headline's times, if there are any, as the result's, and as the scale of all receipts.
void Climber::set_scale(double baseline_ms) {
  const double factor = baseline_ms / result_.baseline_ms;
  result_.baseline_ms = baseline_ms;
  for (Receipt& receipt : result_.rungs) receipt.before_ms *= factor, receipt.ms *= factor;
}

// Returns the least seconds of the final measurements; a GPU's take longer than their runs.
double Climber::closing_seconds() const {
  const double device_s = current_.plan->target->gpu ? 2 * (kSchedule.sensors_s + kSchedule.gpu_runs_s) : 0;
  return kSchedule.final_runs * current_ms_ * 1e-3 + device_s;
}

// Measures at a robot's steady rate, too: its GPU is cooler then, and its clocks are others.
Status Climber::measure_final(double seconds) {
  RUNG_CHECK(current_.session->set_inputs(options_.inputs[0]));
  RUNG_TRY(LoadedRuns back_to_back, measure_runs(*current_.session, {.seconds = seconds}));
  result_.final_latency = back_to_back.latency;
  if (!current_.plan->target->gpu) return {};
  result_.loads.push_back(std::move(back_to_back));
  RUNG_TRY(result_.loads.emplace_back(),
           measure_runs(*current_.session, {.rate_hz = kSchedule.robot_hz, .seconds = seconds}));
  return {};
}

void Climber::record_profile(Profile& profile) {
  result_.cold = profile.cold;
  result_.ops = std::move(profile.ops);
  result_.peaks = profile.peaks;
  result_.host_us = profile.host_us;
  result_.floor_ms = profile.floor_ms;
  result_.text_before = profile.tokens_before;
}

void Climber::record_plan() {
  const Plan& plan = *current_.plan;
  result_.model = subject_.model.name;
  result_.architecture = subject_.model.architecture;
  result_.takes_text = !subject_.attachments.empty();
  result_.precision = name_of(narrowest(current_.recipe.precision));
  result_.device = plan.device;
  result_.dtype = std::string(name_of(computed_in(plan)));
  result_.shapes = shapes_text(plan);
  result_.threads = plan.recipe.threads;
  result_.kernels_after = static_cast<int>(plan.steps.size());
  result_.weights_mb = static_cast<double>(plan.weight_bytes()) * 1e-6;
  result_.arena_mb = static_cast<double>(plan.arena_bytes) * 1e-6;
  result_.choices = choices_of(plan, tasks_of(plan), bench_->database());
  result_.verified = current_.right;
  result_.rel_l2 = current_.rel_l2;
  result_.max_abs = current_.max_abs;
  result_.cosine = current_.cosine;
  result_.piecewise = current_.followed.has_value();
  result_.verify_reason = bench_->judge().account(current_);
}

// Ends the tuner's process first: its work then counts as this climb's own, not as another program's.
void Climber::record_environment() {
  end_gpu_worker();
  result_.disturbance = watch_.so_far();
  result_.environment = read_environment();
  result_.environment["libraries"] = library_versions();
  remember_gains();
  bench_->save_tuning();
  if (!bench_->unsaved_reason().empty())
    result_.environment["tuning database"] = "not saved: " + bench_->unsaved_reason();
  result_.peak_rss_mb = peak_rss_bytes() * 1e-6;
  result_.tuning_s = bench_->tuning_seconds();
  result_.total_s = budget_.spent();
  result_.budget_s = budget_.total();
}

Result<ClimbOutcome> Climber::conclude() {
  RUNG_CHECK(tell("final measurements"));
  budget_.release();
  budget_.reserve(closing_seconds());
  RUNG_CHECK(as_trial(&Climber::race_baseline));
  RUNG_CHECK(as_trial(&Climber::offer_cheaper_precision));
  budget_.release();
  RUNG_CHECK(measure_final(
      std::clamp(kSchedule.latency_share_of_rest * budget_.left(), kLeastSeconds, kSchedule.latency_most_s)));
  const double begun_s = kSchedule.begun_runs * current_ms_ * 1e-3;
  const double profile_s = std::clamp(budget_.left() - begun_s, kLeastSeconds, kSchedule.profile_s);
  RUNG_TRY(Profile profile, profile_of_current(profile_s));
  Speedup& claim = result_.against_baseline;
  result_.final_ms = claim.raced() ? claim.after_ms : result_.final_latency.median_ms;
  if (claim.raced()) set_scale(claim.before_ms);
  claim.before_ms = result_.baseline_ms, claim.after_ms = result_.final_ms;
  RUNG_TRY(result_.stages, time_stages(*current_.session, profile.ops));
  record_profile(profile);
  record_plan();
  record_environment();
  return ClimbOutcome{std::move(result_), current_.plan->recipe, current_.plan, std::move(profile.trace),
                      std::move(frontier_)};
}

}  // namespace rung
