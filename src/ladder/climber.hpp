// The state of one climb; climb() drives it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <set>

#include "ladder/climb.hpp"
#include "ladder/kept_peaks.hpp"
#include "ladder/profile.hpp"
#include "ladder/rungs.hpp"
#include "ladder/split.hpp"
#include "measure/disturbance.hpp"
#include "measure/interleave.hpp"

namespace rung {

// Alternatives to what single problems chose: how many there were, were tried on the whole model, and were kept.
struct RefineCounts {
  size_t trials = 0, tried = 0, kept = 0;
};

// One of them on the whole model.
struct ChoiceTrial {
  double ratio = 0;      // of speeds; 0: it was not kept
  bool settled = false;  // kept, wrong, or shown to gain too little: it need not be tried again
};

// A rung, or several, on top of what was accepted: what was built and what its receipt says.
struct StepTrial {
  Receipt receipt;
  std::optional<Attempt> candidate;  // none: it cannot be built, or launches what runs already
  bool is_slower() const { return candidate && candidate->right && receipt.ci95.hi < 1; }
};

// The plan that runs without a climb, as this climb found it.
struct DefaultPlan {
  std::optional<Recipe> recipe;  // none: it was not tried, cannot be built, or is wrong
  std::string refused;           // why there is none
  Speedup speedup;               // over the baseline
  double build_s = 0;
  bool is_start = false;  // the climb began with it
  size_t receipts = 0;    // how many there were once it had its own
};

// A change that is to be tried: a rung on top of what was accepted, or the same without one.
struct Turn {
  const Rung* rung = nullptr;
  bool without = false;
  double promise = 0;  // microseconds of a run that it may take off
  std::string name() const { return (without ? "without " : "") + std::string(rung->name); }  // of its receipt
};

class Climber {
 public:
  Climber(const Subject& subject, const ClimbOptions& options, Budget& budget)
      : subject_(subject), options_(options), budget_(budget) {}
  Result<ClimbOutcome> run();

 private:
  Result<ClimbOutcome> all_stages();
  // Work that a smaller budget would leave out.
  Status as_trial(Status (Climber::*stage)());
  Status prepare();  // start.cpp: reference and baseline
  Result<Profile> profile_of_current(double seconds);
  Status measure_canonical();  // canonical.cpp
  Status start_from_canonical();
  Status try_default();  // races the default plan with the baseline, and starts from the better
  Recipe default_plan() const;
  Status start_from_default(StepTrial trial);
  Status start_from_baseline();
  void accept_default();
  Status plan_budget();  // what the default plan's time says of the rest
  Status profile_start();
  std::vector<Turn> turns() const;  // turns.cpp: all that is to be tried, what promises most first
  double promise_of(const Turn& turn) const;
  void remember_gains();
  Status climb_rungs();
  Status climb_from_default();
  Status climb_from_baseline();
  Status take_turn(const Rung& rung, int number);
  Status try_threads();
  Status try_without(const Turn& turn);
  // The final plan against the default one, which takes its place if the climb did not show that it is faster.
  Status race_no_climb();  // against_no_climb.cpp
  void return_to_default(Attempt plan);
  bool has_cheaper_precision() const;  // cheaper.cpp
  Status offer_cheaper_precision();
  // May this climb try it, and has not accepted it, or not for what it launches now?
  bool is_open(const Rung& rung) const;
  // Open rungs above this one whose attempts may want kernels tuned.
  int tuned_after(const Rung& rung) const;
  // One step: these rungs on top of what was accepted, judged as one.
  Status try_step(const std::vector<const Rung*>& rungs, int number);  // step.cpp
  Result<StepTrial> build_step(const std::vector<const Rung*>& rungs, Receipt receipt);
  Result<StepTrial> trial_of(Result<Attempt> built, const std::vector<const Rung*>& rungs, Receipt receipt);
  std::string peaks_file() const { return peaks_beside(options_.database_path); }
  DType dtype() const { return options_.skip.contains("precision") ? DType::f32 : options_.dtype; }
  // Is it right, and faster than the current attempt? The receipt says so.
  Status judge_step(StepTrial& trial);
  // Measures again what earlier climbs found of the problems that the trial brought: true if other kernels came of it.
  Result<bool> measure_again(const std::vector<const Rung*>& rungs, StepTrial& trial);
  // Puts the parts that win, if there are any, in the place of a trial that does not.  split.cpp
  Status take_apart(const Rung& rung, StepTrial& trial);
  SplitTrial split_of(const Rung& rung, const Attempt& candidate) const;
  Status try_parts(std::span<const Part> parts, SplitTrial& split);
  Result<Standing> race_parts(std::span<const Part> parts, SplitTrial& split);
  Status try_halves(std::span<const Part> parts, SplitTrial& split);
  // The current recipe with tuned kernels, each of them the one that runs now.
  Recipe with_own_kernels() const;
  // Rungs that gain nothing alone may gain together (a fusion needs the kernels that tuning finds).
  Status try_open_rungs_together();
  Status refine_choices(const Rung& rung, int number);  // refine.cpp
  Result<bool> search_choices(Receipt& receipt);
  Status resume_choices(RefinedModel& known);
  Result<RefineCounts> try_choices(RefinedModel& refined, double seconds, Receipt& receipt);
  Result<ChoiceTrial> try_choice(const std::string& key, const KernelChoice& choice, RaceRule rule);
  Status ablate();                  // ablation.cpp
  Result<ClimbOutcome> conclude();  // conclude.cpp
  Status race_baseline();
  void set_scale(double baseline_ms);  // of all receipts' times
  Status measure_final(double seconds);
  void record_profile(Profile& profile);
  void record_plan();
  void record_environment();

  // Building and checking another plan, and one pair of a race with it.
  double trial_seconds() const;
  bool has_time_to_try() const { return budget_.left() > trial_seconds(); }
  // A receipt for one rung or several that have changed nothing yet.
  Receipt new_receipt(std::string name, int number) const;
  void add(Receipt receipt);
  // Receipts of what could not be accepted, with the reason.
  void refuse(Receipt receipt, std::string reason);
  // Times `candidate` against the current attempt; the receipt says whether it is clearly faster.
  Result<Receipt> decide(Receipt receipt, Attempt& candidate);
  // The candidate takes the current attempt's place if the receipt says so: true.
  bool enter(Receipt receipt, std::optional<Attempt> candidate);
  Result<InterleaveResult> race(Session& a, Session& b, RaceRule rule);
  Status tell(const std::string& what);  // progress; "interrupted" if so

  const Subject& subject_;
  const ClimbOptions& options_;
  Budget& budget_;
  std::unique_ptr<Workbench> bench_;
  Attempt current_;
  double current_ms_ = 0;  // of current_, as last measured
  double ladder_ms_ = 0;   // the same on the scale of receipts: the baseline's over the ratios of what was kept
  double baseline_build_s_ = 0, attempt_s_ = 0, final_s_ = 0;
  double noise_ = kSchedule.race_noise;  // of a pair's log ratio
  Speedup last_race_;                    // decide()'s, as measured
  DefaultPlan default_;
  std::optional<Attempt> canonical_;  // the baseline in canonical form, until it is known where the climb begins
  double canonical_ms_ = 0;           // on the scale of receipts
  std::vector<OpTime> start_ops_;     // of the plan that the climb began with
  double start_host_us_ = 0, start_ms_ = 0;
  std::string start_name_;  // of that plan in the tuning database
  std::set<std::string, std::less<>> accepted_;
  std::map<std::string, AblationRow, std::less<>> worth_;  // of the current plan's rungs, already raced
  std::set<std::string> unsettled_;  // alternatives that this climb tried on the model, and no race settled
  DisturbanceWatch watch_;           // of the whole climb
  ClimbResult result_;
  size_t stages_done_ = 0, stages_ = 1;
};

inline constexpr std::string_view kChoosesKernels = "gemm";  // the rung of that name
inline constexpr std::string_view kSameLaunches = "changes nothing here";

// Notes for a rung's receipt: its passes' changes, and why others did nothing.
void add_notes(std::string_view rung, const PassReport& passes, std::vector<std::string>& notes);

// Do two plans launch the same kernels on the same operands, by as many threads?
bool same_launches(const Plan& a, const Plan& b);

}  // namespace rung
