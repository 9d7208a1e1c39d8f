// The tuner: measures the fastest candidate for each problem, always including the library's default; it can stop at
// any time, keeps within a budget and remembers its results.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <map>
#include <set>
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
  int count = 1;              // launches of the plan that share the problem
  double headroom = 1.0;      // order of work: problems with the most to gain first
  Rows rows = Rows::all;      // fewer rows need another key: see library_key()
  bool is_looked_up = false;  // a linear's table whose rows the plan's gathers read, too, in the linear's layout
};

struct TuneOptions {
  std::function<double()> seconds_left;  // of the budget
  std::function<bool()> interrupted;     // Ctrl-C: stops after the current candidate
  std::function<void(size_t done, size_t of)> progress;
  size_t working_set_bytes = 0;
  std::set<std::string> doubted = {};  // entries of earlier climbs that are measured again, however sure they are
};

// Tunes problems that the database does not know yet and adds them. It tunes an entry again if its kernel is gone, no
// longer supports its problem or takes other parameters, if it ran out of time, or if it is an earlier climb's and not
// sure (margin.hpp) or is doubted. A new measurement that is no surer than the earlier one leaves the entry as it was,
// unless that lost on a model or is doubted. A candidate replaces the default only if it is at least 2 % faster.
// Problems that the budget does not reach stay as they were. The caller saves the database.
void tune(const std::vector<TuneTask>& tasks, TuningDatabase& database, const TuneOptions& options);

// Returns the fastest, or the first (the default) if none beats it by 2 %.
size_t winner_of(const std::vector<Measured>& measured);

// Returns the database's winner, if it can still run the problem, and is sure or the best that this climb found.
const TunedProblem* valid_entry(const TuningDatabase& database, const TuneTask& task);

// Returns what a plan takes: the entry's winner. A table that is looked up is then held twice if gathers cannot read
// the winner's layout: unless it is surely 5 % faster (margin.hpp), returns the fastest whose layout they can read.
const KernelChoice& choice_of(const TunedProblem& entry, const TuneTask& task);

}  // namespace rung
