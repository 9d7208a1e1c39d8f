// The climb: rung by rung, each on top of what was accepted; measured against it in alternating runs, verified, kept or
// not.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <set>

#include "ladder/precision/forms.hpp"
#include "ladder/precision/goal.hpp"
#include "ladder/result.hpp"
#include "ladder/workbench.hpp"
#include "measure/trace.hpp"

namespace rung {

struct ClimbOptions {
  const Target* target = &cpu_target();
  int threads = 1;
  bool may_change_threads = false;          // fewer threads are candidates
  double budget_s = 60;                     // includes writing what the climb hands back
  double spent_s = 0;                       // part of the budget spent before the climb: starting, reading the model
  DType dtype = DType::f32;                 // bf16 holds from the baseline on: the opt-in rung "precision"
  PrecisionGoal goal = {};                  // the rung "precision" chooses by it; with a goal `dtype` is f32
  std::vector<PrecisionForm> forms = {};    // among which it chooses, f32 first; empty: those with kernels
  std::set<std::string, std::less<>> skip;  // rungs not to climb
  std::vector<NamedTensors> inputs;         // used to verify; the first is the one that is timed
  std::string database_path;
  std::function<std::string(DType)> command;  // command of the same climb in another precision; may be empty
  std::function<bool()> interrupted = [] { return false; };
  std::function<void(const std::string& what, double fraction)> progress = [](const std::string&, double) {};
  // The climb calls it with each receipt as it is decided.
  std::function<void(const Receipt&)> decided = [](const Receipt&) {};
  // The climb calls it before it ends because the device failed, with the recipe built last: the first suspect.
  std::function<void(const Recipe&)> device_failed = [](const Recipe&) {};
};

struct ClimbOutcome {
  ClimbResult result;
  Recipe recipe;
  std::shared_ptr<const Plan> plan;
  Trace trace;                        // one inference of the final plan, launch by launch
  std::vector<Recipe> frontier = {};  // of result.precision_search.wholes
};

// Climbs. Errors: the baseline cannot be built or is wrong, bad inputs, a damaged database, "interrupted" (what was
// tuned is kept), a device that failed outside the tuner's worker, a stated error that no plan has (mismatch).
Result<ClimbOutcome> climb(const Subject& subject, const ClimbOptions& options);

}  // namespace rung
