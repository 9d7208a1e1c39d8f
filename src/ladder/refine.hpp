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

// Another kernel for all launches of a problem.
struct ModelTrial {
  std::string key;
  KernelChoice choice;
  size_t rank = 0;        // among the alternatives of its problem, the fastest alone first
  double problem_us = 0;  // of all launches together, alone
};

// Every problem's first alternative before any second one, problems that take most of the time first: a budget that
// ends early has then tried what promises most. Without those in `tried` (text_of() of them).
std::vector<ModelTrial> trials_of(const std::vector<TuneTask>& tasks, const TuningDatabase& database,
                                  const Recipe& recipe, const std::set<std::string>& tried);

// Leaves out trials of problems that take less than `least_us` in all: the model cannot show what they gain. How many.
size_t drop_short(std::vector<ModelTrial>& trials, double least_us);

// The candidate in place of the current choice. The tuner changes one parameter at a time, so that with the same kernel
// what was found for the others stays; without parameters it is the defaults.
KernelChoice changed(const KernelChoice& current, KernelChoice candidate);

// "problem: kernel parameter=value"
std::string text_of(const std::string& problem, const KernelChoice& choice);

// Was a rung kept since this one last had its turn? The launches that it changed have not been tried on the model.
bool is_outdated(const Rung& rung, const std::vector<Receipt>& receipts);

// A model by what it launches: its weights and inputs do not matter to which choice is fast.
std::string name_of_model(const std::string& model, const std::vector<TuneTask>& tasks);

}  // namespace rung
