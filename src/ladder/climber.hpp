// The state of one climb; climb() drives it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <set>

#include "ladder/climb.hpp"
#include "ladder/profile.hpp"
#include "ladder/rungs.hpp"
#include "ladder/split.hpp"
#include "measure/environment.hpp"
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

class Climber {
 public:
  Climber(const Subject& subject, const ClimbOptions& options, Budget& budget)
      : subject_(subject), options_(options), budget_(budget) {}
  Result<ClimbOutcome> run();

 private:
  Result<ClimbOutcome> all_stages();
  Status prepare();
  Status climb_rungs();
  // May this climb try it, and has not accepted it, or not for what it launches now?
  bool is_open(const Rung& rung) const;
  // Open rungs above this one whose attempts may want kernels tuned.
  int tuned_after(const Rung& rung) const;
  // One step: these rungs on top of what was accepted, judged as one.
  Status try_step(const std::vector<const Rung*>& rungs, int number);  // step.cpp
  Result<StepTrial> build_step(const std::vector<const Rung*>& rungs, Receipt receipt);
  // Is it right, and faster than the current attempt? The receipt says so.
  Status judge_step(StepTrial& trial);
  // Measures again what earlier climbs found of the problems that the trial brought: true if other kernels came of it.
  Result<bool> measure_again(const std::vector<const Rung*>& rungs, StepTrial& trial);
  // Puts the parts that win, if there are any, in the place of a trial that does not.  split.cpp
  Status take_apart(const Rung& rung, StepTrial& trial);
  Split split_of(const Rung& rung, const Attempt& candidate) const;
  Status try_parts(std::span<const Part> parts, Split& split);
  Result<Standing> race_parts(std::span<const Part> parts, Split& split);
  Status try_halves(std::span<const Part> parts, Split& split);
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
  Status measure_final(double seconds);
  void record_profile(Profile& profile);
  void record_plan();
  void record_environment(const NoiseWatch& noise);

  // Another attempt takes about as long as the baseline's did, and its race more.
  bool has_time_to_try() const;
  // Of a rung, or several, that change nothing yet.
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
  double baseline_build_s_ = 0;
  std::set<std::string, std::less<>> accepted_;
  std::set<std::string> unsettled_;  // alternatives that this climb tried on the model, and no race settled
  ClimbResult result_;
  size_t stages_done_ = 0, stages_ = 1;
};

// Why a rung was refused that has_time_to_try() was asked for.
inline constexpr std::string_view kNoTime = "the budget was spent before this rung";

// Do two plans launch the same kernels on the same operands?
bool same_launches(const Plan& a, const Plan& b);

}  // namespace rung
