// The tuner: for each problem the fastest candidate by measurement, the library's default always among them; anytime,
// within a budget, remembering what it learnt.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tune/candidates.hpp"
#include "tune/database.hpp"
#include "tune/worker.hpp"

namespace rung {

struct TuneTask {
  std::string key;  // problem_key()
  Problem problem;
  const Target* target = &cpu_target();
  int count = 1;          // launches of the plan that share the problem
  double headroom = 1.0;  // the order of work: problems with the most to gain first
  Rows rows = Rows::all;  // another key goes with fewer: see library_key()
};

struct TuneOptions {
  std::function<double()> seconds_left;  // of the budget
  std::function<bool()> interrupted;     // Ctrl-C: stop after the current candidate
  std::function<void(size_t done, size_t of)> progress;
  size_t working_set_bytes = 0;
};

// Tunes what the database does not know yet and puts it there; an entry whose kernel is gone, no longer supports its
// problem or takes other parameters is tuned again, and so is one that ran out of time, and one of an earlier climb
// that is not sure (evidence.hpp). What is measured again and comes out no surer than before leaves the entry as it
// was. A candidate replaces the default only if it is at least 2 % faster. Problems that the budget does not reach stay
// untuned (their default row runs). The caller saves the database.
void tune(const std::vector<TuneTask>& tasks, TuningDatabase& database, const TuneOptions& options);

// The fastest, or the first (the default) if none beats it by 2 %.
size_t winner_of(const std::vector<Measured>& measured);

// The database's winner, if it can still run the problem, and is sure or the best that this climb found.
const TunedProblem* valid_entry(const TuningDatabase& database, const TuneTask& task);

}  // namespace rung
