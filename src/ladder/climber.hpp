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

// Counts of alternatives to the choices for single problems: existing, tried on the whole model, and kept.
struct RefineCounts {
  size_t trials = 0, tried = 0, kept = 0;
};

// The result of one such alternative on the whole model.
struct ChoiceTrial {
  double ratio = 0;      // of speeds; 0: not kept
  bool settled = false;  // kept, wrong, or shown to gain too little: no need to try it again
};

// A rung, or several, tried on top of what was accepted: the attempt and its receipt.
struct StepTrial {
  Receipt receipt;
  std::optional<Attempt> candidate;  // none: it cannot be built, or launches what runs already
  bool is_slower() const { return candidate && candidate->right && receipt.ci95.hi < 1; }
};

// The plan that runs without a climb, as this climb found it.
struct DefaultPlan {
  std::optional<Recipe> recipe;  // none: not tried, not buildable, or wrong
  std::string refused;           // why there is no recipe
  Speedup speedup;               // over the baseline
  double build_s = 0;
  bool is_start = false;  // the climb began with it
  size_t receipts = 0;    // number of receipts when it had got its own
};

// A change to be tried: a rung on top of what was accepted, or a plan without it.
struct Turn {
  const Rung* rung = nullptr;
  bool without = false;
  double promise = 0;  // microseconds of a run that it may save
  std::string name() const { return (without ? "without " : "") + std::string(rung->name); }  // the receipt's name
};

class Climber {
 public:
  Climber(const Subject& subject, const ClimbOptions& options, Budget& budget)
      : subject_(subject), options_(options), budget_(budget) {}
  Result<ClimbOutcome> run();

 private:
  Result<ClimbOutcome> all_stages();
  // Counts the stage's time as time that a smaller budget would not spend.
  Status as_trial(Status (Climber::*stage)());
  Status prepare();  // start.cpp: reference and baseline
  Result<Profile> profile_of_current(double seconds);
  Status measure_canonical();  // canonical.cpp
  Status start_from_canonical();
  Status try_default();  // races the default plan with the baseline, and starts from the faster
  Recipe default_plan() const;
  Status start_from_default(StepTrial trial);
  Status start_from_baseline();
  void accept_default();
  Status plan_budget();  // plans the rest of the budget by the default plan's time
  Status profile_start();
  std::vector<Turn> turns() const;  // turns.cpp: all changes to try, the most promising first
  double promise_of(const Turn& turn) const;
  void remember_gains();
  Status climb_rungs();
  Status climb_from_default();
  Status climb_from_baseline();
  Status take_turn(const Rung& rung, int number);
  Status try_threads();
  Status try_without(const Turn& turn);
  // Races the final plan against the default one, which replaces it if the climb did not show that it is faster.
  Status race_no_climb();  // against_no_climb.cpp
  Result<Speedup> race_default(Session& session);
  void return_to_default(Attempt plan);
  Status choose_precision();  // choose_precision.cpp
  Status take_precision(size_t chosen, Receipt receipt);
  Result<Speedup> race_with_current(Session& session, bool decides);
  Result<Speedup> race_two(Session& a, Session& b);
  bool has_cheaper_precision() const;  // cheaper.cpp
  Status offer_cheaper_precision();
  // Returns whether this climb may try the rung: it has not accepted it, or not for the present launches.
  bool is_open(const Rung& rung) const;
  // Returns the number of open rungs above this one whose attempts may want kernels tuned.
  int tuned_after(const Rung& rung) const;
  // Makes one step: these rungs on top of what was accepted, judged as one.
  Status try_step(const std::vector<const Rung*>& rungs, int number);  // step.cpp
  Result<StepTrial> build_step(const std::vector<const Rung*>& rungs, Receipt receipt);
  Result<StepTrial> trial_of(Result<Attempt> built, const std::vector<const Rung*>& rungs, Receipt receipt);
  std::string peaks_file() const { return peaks_beside(options_.database_path); }
  DType dtype() const { return options_.skip.contains("precision") ? DType::f32 : options_.dtype; }
  // Judges whether the trial is right, and faster than the current attempt. The receipt says so.
  Status judge_step(StepTrial& trial);
  std::vector<std::string> suspects_in(const Attempt& lost) const;
  // Measures again what earlier climbs found for the problems that the trial added: true if other kernels resulted.
  Result<bool> measure_again(const std::vector<const Rung*>& rungs, StepTrial& trial);
  // Replaces a trial that does not win by its parts that win, if there are any.  split.cpp
  Status take_apart(const Rung& rung, StepTrial& trial);
  SplitTrial split_of(const Rung& rung, const Attempt& candidate) const;
  Status try_parts(std::span<const Part> parts, SplitTrial& split);
  Result<Standing> race_parts(std::span<const Part> parts, SplitTrial& split);
  Status try_halves(std::span<const Part> parts, SplitTrial& split);
  // Returns the current recipe with tuned kernels, each of them the one that runs now.
  Recipe with_own_kernels() const;
  // Tries rungs that gain nothing alone, as they may gain together (a fusion needs the kernels that tuning finds).
  Status try_open_rungs_together();
  Status refine_choices(const Rung& rung, int number);  // refine.cpp
  Result<bool> search_choices(Receipt& receipt);
  Status resume_choices(RefinedModel& known);
  Result<RefineCounts> try_choices(RefinedModel& refined, double seconds, Receipt& receipt);
  Result<ChoiceTrial> try_choice(const std::string& key, const KernelChoice& choice, RaceRule rule);
  Status ablate();                  // ablation.cpp
  Result<ClimbOutcome> conclude();  // conclude.cpp
  double headline_seconds() const;  // of building the first plan, and of a pair of its race
  Status race_baseline();
  void set_scale(double baseline_ms);  // of all receipts' times
  double closing_seconds() const;
  Status measure_final(double seconds);
  void record_profile(Profile& profile);
  void record_plan();
  void record_environment();

  // Returns the seconds in which a race of two plans has pairs enough for an interval, within its share of the budget.
  double seconds_of_pairs() const;
  // Returns the rule with that time, where a slow model needs more than the rule has.
  RaceRule with_pairs(RaceRule rule) const;
  // Returns the seconds of building and checking another plan, and of one pair of a race with it.
  double trial_seconds() const;
  bool has_time_to_try() const { return budget_.left() > trial_seconds(); }
  // Makes a receipt for one rung or several that have changed nothing yet.
  Receipt new_receipt(std::string name, int number) const;
  void add(Receipt receipt);
  // Adds a receipt for a change that could not be accepted, with the reason.
  void refuse(Receipt receipt, std::string reason);
  // Times `candidate` against the current attempt; the receipt says whether it is clearly faster.
  Result<Receipt> decide(Receipt receipt, Attempt& candidate);
  // Puts the candidate in the current attempt's place if the receipt says so, and returns whether it did.
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
  double after_precision_s_ = 0;         // kept for the work after the choice of precision
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
  std::vector<Recipe> frontier_;  // of the wholes in result_.precision_search
  size_t stages_done_ = 0, stages_ = 1;
};

inline constexpr std::string_view kChoosesKernels = "gemm", kPrecisionRung = "precision";  // rungs of these names
inline constexpr std::string_view kSameLaunches = "changes nothing here";

// Adds notes to a rung's receipt: its passes' changes, and why others did nothing.
void add_notes(std::string_view rung, const PassReport& passes, std::vector<std::string>& notes);

// Returns whether two plans launch the same kernels on the same operands, with as many threads.
bool same_launches(const Plan& a, const Plan& b);

}  // namespace rung
