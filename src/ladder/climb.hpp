// The climb: rung by rung, each on top of what was accepted; measured against it in alternating runs, verified, kept or
// not.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <set>

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
  Trace trace;  // one inference of the final plan, launch by launch
};

// Climbs. Errors: the baseline cannot be built or is wrong, bad inputs, a damaged database, "interrupted" (what was
// tuned is kept), a device that failed outside the tuner's worker.
Result<ClimbOutcome> climb(const Subject& subject, const ClimbOptions& options);

}  // namespace rung
