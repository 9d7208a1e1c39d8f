// The climb's course: baseline, rungs, rejected rungs again, ablation, final measurements.
// SPDX-License-Identifier: Apache-2.0
#include "ladder/climb.hpp"

#include <algorithm>
#include <cmath>

#include "base/log.hpp"
#include "ladder/climber.hpp"
#include "ladder/measure_runs.hpp"
#include "ladder/profile.hpp"
#include "ladder/refine.hpp"
#include "ladder/stages.hpp"
#include "measure/environment.hpp"
#include "measure/resources.hpp"

namespace rung {
namespace {

constexpr double kRaceShare = 0.025;     // of the budget, for one rung's comparison
constexpr double kRaceSeconds = 2;       // but no more than this
constexpr double kRaceMostShare = 0.08;  // when fewer pairs than these would fit: they give an interval no chance
constexpr double kRacePairs = 8;
constexpr double kTogetherShare = 0.25;   // kept for trying rungs together that were rejected, or not tried, alone
constexpr double kFinalShare = 0.15;      // of the budget, for the measurements of the final plan
constexpr double kFinalSeconds = 5;       // but no more than this
constexpr double kPeaksShare = 0.08;      // for the machine's peaks
constexpr double kBaselineShare = 0.03;   // for each of the baseline's latency and profile
constexpr double kBaselineSeconds = 0.5;  // but no more than this
constexpr double kRaceHalfWidth = 0.004;  // relative; a comparison ends when its interval is this narrow
constexpr int kLeastRacePairs = 6;        // five signed ranks give no interval of 95 %

std::string shapes_text(const Plan& plan) {
  std::string text;
  for (const auto& input : plan.inputs) text += fmt::format("{}{}={}", text.empty() ? "" : " ", input.name, input.type);
  for (const auto& frozen : plan.frozen)
    text += fmt::format("{}{}={} (frozen)", text.empty() ? "" : " ", frozen.name, frozen.value.type());
  return text;
}

std::vector<std::string> notes_of(const PassReport& passes, std::string_view rung) {
  std::vector<std::string> notes;
  for (const auto& row : passes.rows) {
    if (row.rung != rung) continue;
    if (row.changed) notes.push_back(fmt::format("{}: {} -> {} nodes", row.name, row.nodes_before, row.nodes_after));
    for (const auto& note : row.notes) notes.push_back(fmt::format("{}: {}", row.name, note));
  }
  return notes;
}

bool same_operand(const PlanOperand& a, const PlanOperand& b) {
  return a.region == b.region && a.index == b.index && a.offset == b.offset && a.view.dtype == b.view.dtype &&
         a.view.shape == b.view.shape && a.view.strides == b.view.strides;
}

// The narrowest float that the plan computes in: "f32", or "bf16".
std::string dtype_text(const Plan& plan) {
  DType narrowest = DType::f32;
  for (const Step& step : plan.steps)
    if (DType dtype = step.output.view.dtype; is_float(dtype) && size_of(dtype) < size_of(narrowest)) narrowest = dtype;
  return std::string(name_of(narrowest));
}

}  // namespace

bool same_launches(const Plan& a, const Plan& b) {
  if (a.recipe.capture != b.recipe.capture || a.steps.size() != b.steps.size()) return false;
  return std::equal(a.steps.begin(), a.steps.end(), b.steps.begin(), [](const Step& x, const Step& y) {
    return x.choice == y.choice && x.op == y.op && same_operand(x.output, y.output) &&
           std::equal(x.inputs.begin(), x.inputs.end(), y.inputs.begin(), y.inputs.end(), same_operand);
  });
}

Result<ClimbOutcome> climb(const Subject& subject, const ClimbOptions& options) {
  Budget budget(options.budget_s, std::min(kFinalShare * options.budget_s, kFinalSeconds), options.spent_s);
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
  ClimbOutcome outcome;
  RUNG_CHECK(conclude(outcome));
  return outcome;
}

Status Climber::tell(const std::string& what) {
  log(2, "after {:.2f} s: {}", budget_.spent(), what);
  options_.progress(what, static_cast<double>(stages_done_) / static_cast<double>(stages_));
  if (!options_.interrupted()) return {};
  if (bench_) bench_->save_tuning();  // what could not be saved before may be now
  return fail("interrupted; {}", bench_ ? bench_->account_of_tuning() : "nothing was tuned");
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
  if (!options_.target->gpu)
    machine_peaks(current_.session->team(), std::min(budget_.share(kPeaksShare), kPeaksSeconds));
  const double seconds = std::min(budget_.share(kBaselineShare), kBaselineSeconds);
  RUNG_TRY(result_.baseline, measure_latency(*current_.session, seconds));
  RUNG_TRY(Profile profile, profile_session(*current_.session, options_.inputs[0], seconds));
  result_.baseline_categories_us = by_category_us(profile);
  result_.baseline_ms = current_ms_ = result_.baseline.median_ms;
  result_.kernels_before = static_cast<int>(current_.plan->steps.size());
  ++stages_done_;
  return {};
}

bool Climber::is_open(const Rung& rung) const {
  if (options_.skip.contains(rung.name) || (rung.opt_in && options_.dtype == DType::f32)) return false;
  return !accepted_.contains(rung.name) || (rung.name == "tune" && is_tune_outdated(result_.rungs));
}

int Climber::tuned_after(const Rung& rung) const {
  const auto above = ladder().subspan(static_cast<size_t>(&rung - ladder().data()) + 1);
  return static_cast<int>(std::count_if(above.begin(), above.end(),
                                        [this](const Rung& later) { return later.name != "tune" && is_open(later); }));
}

Status Climber::climb_rungs() {
  for (int number = 1; number <= 2; ++number) {
    for (const Rung& rung : ladder()) {
      if (!is_open(rung)) continue;
      RUNG_CHECK(tell(std::string(rung.name)));
      if (number == 1 && budget_.left() < kTogetherShare * budget_.total())
        refuse({.name = std::string(rung.name), .before_ms = current_ms_}, "the budget leaves no time to try it alone");
      else
        RUNG_CHECK(rung.name == "tune" ? refine_choices(number) : try_step({&rung}, number));
      ++stages_done_;
    }
    if (number == 1) RUNG_CHECK(try_open_rungs_together());
  }
  return {};
}

Status Climber::try_open_rungs_together() {
  std::vector<const Rung*> open;
  for (const Rung& rung : ladder())
    if (is_open(rung) && rung.name != "tune") open.push_back(&rung);
  if (open.size() < 2) return {};
  RUNG_CHECK(tell("rejected rungs together"));
  size_t accepted = accepted_.size();
  RUNG_CHECK(try_step(open, 2));
  bool opted_in = std::erase_if(open, [](const Rung* rung) { return rung->opt_in; }) > 0;
  if (accepted_.size() > accepted || !opted_in || open.size() < 2) return {};
  return try_step(open, 2);  // it may be the low precision that was wrong, or slow
}

bool Climber::has_time_to_try() const { return budget_.left() > baseline_build_s_; }

void Climber::refuse(Receipt receipt, std::string reason) {
  receipt.accepted = false;
  receipt.reason = std::move(reason);
  receipt.ms = receipt.before_ms;
  result_.rungs.push_back(std::move(receipt));
}

Status Climber::try_step(const std::vector<const Rung*>& rungs, int number) {
  Receipt receipt{.before_ms = current_ms_, .ms = current_ms_, .attempt = number};
  for (const Rung* rung : rungs) receipt.name += (receipt.name.empty() ? "" : "+") + std::string(rung->name);
  receipt.kernels = static_cast<int>(current_.plan->steps.size());
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
  auto candidate = bench_->attempt(std::move(recipe), tuned_after(*rungs.back()));
  if (device_failed(candidate)) return tl::unexpected(candidate.error());
  StepTrial trial{std::move(receipt), std::nullopt};
  if (!candidate) {
    trial.receipt.reason = "cannot be built: " + candidate.error().message;
    return trial;
  }
  for (const Rung* rung : rungs) {
    for (auto& note : notes_of(candidate->passes, rung->name)) trial.receipt.notes.push_back(std::move(note));
    if (rung->name != "capture") continue;
    for (const auto& note : candidate->session->recorder().capture_notes())
      trial.receipt.notes.push_back("capture: " + note);
  }
  if (!same_launches(*candidate->plan, *current_.plan))
    trial.candidate = std::move(*candidate);
  else
    trial.receipt.reason = "changes nothing here";
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

Result<bool> Climber::measure_again(const std::vector<const Rung*>& rungs, StepTrial& trial) {
  if (!trial.is_slower()) return false;
  const Recipe lost = trial.candidate->recipe;
  const Receipt receipt = trial.receipt;
  bool doubted = false;
  for (const auto& [problem, choice] : lost.choices) {
    if (current_.recipe.choices.contains(problem) || !bench_->database().is_old(problem)) continue;
    bench_->database().mark_lost(problem);
    doubted = true;
  }
  if (!doubted || !has_time_to_try()) return false;
  trial.candidate.reset();  // its memory
  RUNG_TRY(trial, build_step(rungs, {.name = receipt.name,
                                     .before_ms = receipt.before_ms,
                                     .ms = receipt.before_ms,
                                     .kernels = receipt.kernels,
                                     .attempt = receipt.attempt}));
  if (!trial.candidate || !(trial.candidate->recipe == lost)) return trial.candidate.has_value();
  trial.receipt = receipt;
  return false;
}

Result<InterleaveResult> Climber::race(Session& a, Session& b, double seconds, double half_width) {
  RUNG_CHECK(a.set_inputs(options_.inputs[0]));
  RUNG_CHECK(b.set_inputs(options_.inputs[0]));
  int runs = static_cast<int>(std::clamp(3.0 / std::max(current_ms_, 1e-3), 1.0, 10.0));  // blocks of some milliseconds
  Interleaver interleaver({.half_width = half_width, .budget_s = seconds, .min_pairs = kLeastRacePairs, .runs = runs});
  RUNG_TRY(InterleaveResult raced, interleaver.compare([&] { return checked_seconds_of([&] { return a.run(); }); },
                                                       [&] { return checked_seconds_of([&] { return b.run(); }); }));
  log(2, "raced {} pairs in {:.2f} s: {:.4f} x faster", raced.a.size(), raced.spent_s, raced.ratio.ratio);
  return raced;
}

Result<Receipt> Climber::decide(Receipt receipt, Attempt& candidate) {
  double pairs_s = kRacePairs * 4 * current_ms_ * 1e-3;  // each side once in a pair, and once before to warm up
  double least = std::min(budget_.share(kRaceShare), kRaceSeconds);
  double seconds = std::max(0.3, std::clamp(pairs_s, least, kRaceMostShare * budget_.total()));
  RUNG_TRY(InterleaveResult raced,
           race(*current_.session, *candidate.session, std::min(seconds, budget_.left()), kRaceHalfWidth));
  receipt.before_ms = raced.median_a * 1e3;
  receipt.ratio = raced.ratio.ratio;
  receipt.ci95 = {raced.ratio.lo, raced.ratio.hi};
  receipt.accepted = raced.ratio.lo > 1;
  if (receipt.accepted)
    receipt.reason = fmt::format("{:.2f} x faster", raced.ratio.ratio);
  else
    receipt.reason = raced.ratio.hi < 1 ? fmt::format("slower: {:.2f} x", raced.ratio.ratio) : "no clear difference";
  receipt.ms = (receipt.accepted ? raced.median_b : raced.median_a) * 1e3;
  return receipt;
}

bool Climber::enter(Receipt receipt, std::optional<Attempt> candidate) {
  current_ms_ = receipt.ms;
  if (receipt.accepted) current_ = std::move(*candidate);
  result_.rungs.push_back(receipt);
  return receipt.accepted;
}

Result<Latency> Climber::measure_latency(Session& session, double seconds) {
  RUNG_CHECK(session.set_inputs(options_.inputs[0]));
  return time_runs(session, seconds);
}

// The climb's headline: first plan against last one, in alternation, as every rung was judged. Their own
// measurements lie a climb apart, with what the machine did meanwhile between them.
Status Climber::race_baseline() {
  constexpr double kSeconds = 1, kHalfWidth = 0.005, kSlack = 1.5;
  if (accepted_.empty() || budget_.left() < kSlack * baseline_build_s_ + kSeconds) return {};
  RUNG_TRY(Attempt baseline, bench_->attempt(Recipe{.threads = options_.threads}));
  RUNG_TRY(InterleaveResult raced, race(*baseline.session, *current_.session, kSeconds, kHalfWidth));
  result_.baseline_ms = raced.median_a * 1e3;
  result_.final_ms = raced.median_b * 1e3;
  return {};
}

// A robot asks at a steady rate: its GPU is cooler then, and its clocks are others.
Status Climber::measure_final(double seconds) {
  RUNG_CHECK(current_.session->set_inputs(options_.inputs[0]));
  RUNG_TRY(LoadedRuns back_to_back, measure_runs(*current_.session, {.seconds = seconds}));
  result_.final_latency = back_to_back.latency;
  if (!current_.plan->target->gpu) return {};
  result_.loads.push_back(std::move(back_to_back));
  RUNG_TRY(result_.loads.emplace_back(), measure_runs(*current_.session, {.rate_hz = kRobotHz, .seconds = seconds}));
  return {};
}

Status Climber::conclude(ClimbOutcome& outcome) {
  RUNG_CHECK(tell("final measurements"));
  NoiseWatch noise;
  budget_.release();
  RUNG_CHECK(race_baseline());
  RUNG_CHECK(measure_final(std::clamp(0.3 * budget_.left(), 0.1, 1.0)));
  RUNG_TRY(Profile profile,
           profile_session(*current_.session, options_.inputs[0], std::clamp(budget_.left(), 0.1, kProfileSeconds)));
  if (result_.final_ms == 0) result_.final_ms = result_.final_latency.median_ms;
  result_.kernels_after = static_cast<int>(current_.plan->steps.size());
  RUNG_TRY(result_.stages, time_stages(*current_.session, profile.ops));
  result_.cold = profile.cold;
  result_.ops = std::move(profile.ops);
  result_.peaks = profile.peaks;
  result_.host_us = profile.host_us;
  result_.floor_ms = profile.floor_ms;
  result_.choices = choices_of(*current_.plan, bench_->tasks_of(*current_.plan), bench_->database());
  result_.model = subject_.model.name;
  result_.architecture = subject_.model.architecture;
  result_.device = current_.plan->device;
  result_.dtype = dtype_text(*current_.plan);
  result_.shapes = shapes_text(*current_.plan);
  result_.threads = options_.threads;
  result_.weights_mb = static_cast<double>(current_.plan->weight_bytes()) * 1e-6;
  result_.arena_mb = static_cast<double>(current_.plan->arena_bytes) * 1e-6;
  result_.verified = current_.right;
  result_.rel_l2 = current_.rel_l2;
  result_.max_abs = current_.max_abs;
  result_.cosine = current_.cosine;
  result_.verify_reason = fmt::format("{} inputs against the {}", options_.inputs.size(), bench_->reference_source());
  result_.environment = read_environment();
  result_.environment["libraries"] = library_versions();
  bench_->save_tuning();
  if (!bench_->unsaved_reason().empty())
    result_.environment["tuning database"] = "not saved: " + bench_->unsaved_reason();
  if (auto warning = noise.warning(); !warning.empty()) result_.environment["disturbance"] = warning;
  result_.peak_rss_mb = peak_rss_bytes() * 1e-6;
  result_.tuning_s = bench_->tuning_seconds();
  result_.total_s = budget_.spent();
  result_.budget_s = budget_.total();
  outcome.trace = std::move(profile.trace);
  outcome.recipe = current_.plan->recipe;
  outcome.plan = current_.plan;
  outcome.result = std::move(result_);
  return {};
}

}  // namespace rung
