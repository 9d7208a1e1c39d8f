// Divides a change that does not win as a whole into parts: kernel choices of single problems, or passes of a rung. The
// winning parts are kept, so that a losing part does not take them along.
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
  std::string problem;  // the problem whose kernel it chooses; empty: it is a pass
  KernelChoice choice;
  std::string pass;
  void add_to(Recipe& recipe) const;
  std::string text() const;  // "problem: kernel parameter=value", or the pass
};

// The outcome of parts together: faster and kept; unclear; slower, or not right; or without any change of a launch.
enum class Standing { kept, unclear, slower, same };

struct SplitTrial {
  Recipe base;  // has none of the parts, and launches what the current attempt launches
  std::vector<Part> parts = {};
  Budget clock;
  int tuned_later = 0;      // see Workbench::attempt()
  bool keeps_ties = false;  // parts were shown to win before: only a clear loss removes them
  // The outcome of the trial.
  std::optional<Attempt> best = {};  // with all parts that were kept; none: no part was
  std::vector<std::string> lost = {};
  size_t kept = 0, untried = 0;
};

// Returns the kernel of each problem in a plan, spelled out as a choice.
std::map<std::string, KernelChoice, std::less<>> kernels_of(const Plan& plan, const std::vector<TuneTask>& tasks);

// Returns the candidate's choices for problems that both plans launch with other kernels, the largest headroom first.
std::vector<Part> parts_of_choices(const Plan& current, const Plan& candidate, std::vector<TuneTask> tasks);

// Returns the passes of the rung that changed the graph, in their order.
std::vector<Part> parts_of_passes(const PassReport& report, std::string_view rung);

// Returns the recipe with the rung's passes all off, so that parts can be added.
Recipe without_passes(Recipe recipe, const Rung& rung);

}  // namespace rung
