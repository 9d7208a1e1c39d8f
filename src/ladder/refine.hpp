// The trials of the rung "tune" on a whole model: near-best kernels of single problems, each once.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <set>
#include <string>
#include <vector>

#include "ladder/result.hpp"
#include "ladder/rungs.hpp"
#include "tune/tuner.hpp"

namespace rung {

// A trial of another kernel for all launches of a problem.
struct ModelTrial {
  std::string key;
  KernelChoice choice;
  size_t rank = 0;        // its place among its problem's alternatives, the fastest alone first
  double problem_us = 0;  // of all launches of the problem together, alone
};

// Returns the time of the fastest candidate, alone; 1e300: none was timed.
double best_us(const TunedProblem& tuned);

// Returns every problem's first alternative before any second one, and first the problems that take most time: a budget
// that ends early has then tried the most promising. It leaves out those in `tried` (by their text_of()).
std::vector<ModelTrial> trials_of(const std::vector<TuneTask>& tasks, const TuningDatabase& database,
                                  const Recipe& recipe, const std::set<std::string>& tried);

// Removes trials of problems that take less than `least_us` in all: the model cannot show their gain. Returns how many.
size_t drop_short(std::vector<ModelTrial>& trials, double least_us);

// Returns the candidate in place of the current choice. The tuner changes one parameter at a time, so that with the
// same kernel the values found for the others stay; a candidate without parameters means the defaults.
KernelChoice changed(const KernelChoice& current, KernelChoice candidate);

// Returns "problem: kernel parameter=value".
std::string text_of(const std::string& problem, const KernelChoice& choice);

// Returns whether a rung was kept since this one had its turn: the launches that it changed are not tried on the model.
bool is_outdated(const Rung& rung, const std::vector<Receipt>& receipts);

// Names a model by its launches: weights and inputs do not matter to which choice is fast.
std::string name_of_model(const std::string& model, const std::vector<TuneTask>& tasks);

}  // namespace rung
