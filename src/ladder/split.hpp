// A change that does not win as a whole, in parts: kernel choices of single problems, or passes of a rung. The parts
// that win are kept, so that one that loses does not take them along.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ladder/budget.hpp"
#include "ladder/rungs.hpp"
#include "ladder/workbench.hpp"
#include "tune/tuner.hpp"

namespace rung {

struct Part {
  std::string problem;  // whose kernel it chooses; empty: it is a pass
  KernelChoice choice;
  std::string pass;
  void add_to(Recipe& recipe) const;
  std::string text() const;  // "problem: kernel parameter=value", or the pass
};

// How parts together did: they make the model faster and were kept; it cannot be told; it is slower, or not right; they
// change no launch.
enum class Standing { kept, unclear, slower, same };

struct SplitTrial {
  Recipe base;  // has none of the parts, and launches what the current attempt launches
  std::vector<Part> parts = {};
  Budget clock;
  int tuned_later = 0;      // see Workbench::attempt()
  bool keeps_ties = false;  // parts that were shown to win before: only a clear loss takes them away
  // The outcome of the trial.
  std::optional<Attempt> best = {};  // with all parts that were kept; none: nothing was
  std::vector<std::string> lost = {};
  size_t kept = 0, untried = 0;
};

// The kernel of each problem in a plan, spelled out as a choice.
std::map<std::string, KernelChoice, std::less<>> kernels_of(const Plan& plan, const std::vector<TuneTask>& tasks);

// Problems that both plans launch, but with other kernels: the candidate's, those first that can take the longest.
std::vector<Part> parts_of_choices(const Plan& current, const Plan& candidate, std::vector<TuneTask> tasks);

// Passes of the rung that changed the graph, in their order.
std::vector<Part> parts_of_passes(const PassReport& report, std::string_view rung);

// The recipe with the rung's passes all off, ready for parts to be added.
Recipe without_passes(Recipe recipe, const Rung& rung);

}  // namespace rung
