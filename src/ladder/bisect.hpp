// Finds the cause of a wrong answer: turns rungs, then passes, off by name until the comparison flips.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>

#include "ir/graph.hpp"
#include "plan/recipe.hpp"

namespace rung {

struct Culprit {
  std::string rung;  // empty: the answer is wrong with every rung off, so the baseline's kernels are at fault
  std::string pass;  // empty: no single pass of the rung is to blame (kernels, capture)
  int builds = 0;    // recipes tried
  Recipe recipe;     // the smallest one found that is still wrong
};

// Bisects a wrong recipe. `is_right` builds a recipe and judges it. Errors: the recipe is right, or a build fails.
Result<Culprit> bisect(const Recipe& wrong, const std::function<Result<bool>(const Recipe&)>& is_right);

// Returns the graph right before the culprit pass, as text that parses back: a test input. Without a culprit pass, it
// returns the graph that the smallest wrong recipe lowers.
Result<std::string> reproducer(const Graph& graph, const Culprit& culprit);

}  // namespace rung
