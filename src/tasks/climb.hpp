// Climbs a model directory, and what is told and written of it afterwards.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ladder/climb.hpp"
#include "open/open_model.hpp"
#include "plan/plan_set.hpp"

namespace rung::tasks {

struct ClimbTask {
  OpenOptions model;
  double budget_s = 60;
  double spent_s = 0;             // of the budget, before the task began
  std::vector<std::string> skip;  // rungs not to climb
  std::string database;           // a file; empty: what is tuned is kept in none
  // As those of ClimbOptions; may be empty.
  std::function<bool()> interrupted;
  std::function<void(const std::string& what, double fraction)> progress;
  std::function<void(const Receipt&)> decided;
  std::function<void(const Recipe&)> device_failed;
};

// In two steps, for whoever has something to do between them: what climb() takes, of a model that is open. Errors: it
// is a plan, the budget, a rung of `skip` that there is not (usage); no program to tune with where the target is a GPU
// (file).
Result<ClimbOptions> climb_options(const ClimbTask& task, const Opened& opened);
// Both. Errors: those, and those of open_model() and climb().
Result<ClimbOutcome> climb_model(const ClimbTask& task);

// The result of a climb as texts.
struct ClimbTexts {
  std::string report;  // JSON: what `rung climb --json` prints
  std::string recipe;  // JSON
  std::string html, markdown;
  std::string trace;  // JSON of one inference, for Perfetto
};
ClimbTexts texts_of(const ClimbOutcome& outcome);

// plan.rung, recipe.json, report.html, report.json, report.md and trace.json into a folder, which must exist: all or
// none. `spent`, if there is one, says what the whole has taken when only the reports are left to write, which they
// tell.
Status save_climb(ClimbOutcome& outcome, const std::string& directory, const std::function<double()>& spent = {});

// A climb among several of one model, whose plans become one file.
struct ClimbOfSet {
  std::string folder;  // for its recipe, reports and trace
  ClimbOutcome outcome;
};
// One plan.rung into a folder, which must exist, and the rest of each climb into its folder in there: all or none.
// Returns what plan.rung holds. Errors: those of PlanSet::make() and of writing.
Result<PlanSet> save_climbs(const std::vector<ClimbOfSet>& climbs, const std::string& directory);

}  // namespace rung::tasks
