// Climbs a model directory, then makes the texts and files about it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ladder/climb.hpp"
#include "open/open_model.hpp"
#include "plan/plan_set.hpp"

namespace rung::tasks {

struct ClimbTask {
  OpenOptions model;
  double budget_s = 60;
  double spent_s = 0;             // part of the budget, before the task began
  PrecisionGoal goal = {};        // the error that the climb may add; none: it keeps the model's precision
  std::vector<std::string> skip;  // rungs not to climb
  std::string database;           // a file; empty: tuning results are not kept
  int64_t text_before = 0;        // tokens of a decoder's text before the runs that are judged and timed
  // The words by which a command says which plans it makes, for the command that repeats the climb. Empty: the model's
  // shapes say it.
  std::string words_of_plans = {};
  // Passed on as ClimbOptions; each may be empty.
  std::function<bool()> interrupted;
  std::function<void(const std::string& what, double fraction)> progress;
  std::function<void(const Receipt&)> decided;
  std::function<void(const Recipe&)> device_failed;
};

// Quotes text as a shell takes it.
std::string shell_word(const std::string& text);

// Returns the options of climb() for an open model, for callers that do something before the climb. Errors: it is a
// plan, the budget, limits of the error that none can have, an unknown rung in `skip` (usage); no program to tune with
// if the target is a GPU (file).
Result<ClimbOptions> climb_options(const ClimbTask& task, const Opened& opened);
// Opens the model and climbs it. Errors: those above, and those of open_model() and climb().
Result<ClimbOutcome> climb_model(const ClimbTask& task);

// The result of a climb as texts.
struct ClimbTexts {
  std::string report;  // JSON: `rung climb --json` prints it
  std::string recipe;  // JSON
  std::string html, markdown;
  std::string trace;  // JSON of one inference, for Perfetto
};
ClimbTexts texts_of(const ClimbOutcome& outcome);

// Writes plan.rung, recipe.json, report.html, report.json, report.md and trace.json into a folder, which must exist,
// and a recipe for each plan that a search of precision measured: all or none. `spent`, if given, returns the total
// time when only the reports remain to be written; they report it.
Status save_climb(ClimbOutcome& outcome, const std::string& directory, const std::function<double()>& spent = {});

// One of several climbs of one model, whose plans become one file.
struct ClimbOfSet {
  std::string folder;  // for its recipe, reports and trace
  ClimbOutcome outcome;
};
// Writes one plan.rung into a folder, which must exist, and each climb's other files into its subfolder: all or none.
// Returns the plans in plan.rung. Errors: those of PlanSet::make() and of writing.
Result<PlanSet> save_climbs(const std::vector<ClimbOfSet>& climbs, const std::string& directory);

}  // namespace rung::tasks
