// build(graph, recipe, target) -> plan: a pure function; the ladder only edits recipes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/graph.hpp"
#include "kernels/target.hpp"
#include "passes/runner.hpp"
#include "plan/plan.hpp"
#include "plan/weight_store.hpp"

namespace rung {

struct BuildOptions {
  const Target* target = &cpu_target();
  std::string dump_directory;      // where a failing pass leaves its graph
  WeightStore* weights = nullptr;  // of the plans that share weights with this one
  bool contents = true;            // of the weights; without them a plan tells its problems, and cannot run
};

struct Built {
  Plan plan;
  PassReport passes;
  size_t nodes = 0;  // of the graph that was lowered
};

// Runs the recipe's passes over a copy of the pristine graph and lowers the result. Inputs get no defaults here. The
// plan's recipe is the one given, without choices that decided nothing.
Result<Built> build_plan(const Graph& graph, const Recipe& recipe, const BuildOptions& options = {});
// Checks that each choice of a recipe that a person gave decided something in the plan that was built with it. Errors
// name one that did not.
Status check_choices(const Recipe& recipe, const Plan& plan);
// Likewise: does each entry of its precision name a part of that plan? Errors name one that does not, and the nearest
// part that there is.
Status check_precision(const Recipe& recipe, const Plan& plan);
// The same graph after the recipe's passes, for inspection.
Result<Graph> apply_passes(const Graph& graph, const Recipe& recipe, PassReport* report = nullptr,
                           const BuildOptions& options = {});

}  // namespace rung
