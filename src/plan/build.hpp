// build(graph, recipe) -> plan: a pure function; the ladder only edits recipes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/graph.hpp"
#include "passes/runner.hpp"
#include "plan/plan.hpp"

namespace rung {

struct BuildOptions {
  std::string dump_directory;  // where a failing pass leaves its graph
};

struct Built {
  Plan plan;
  PassReport passes;
  size_t nodes = 0;  // of the graph that was lowered
};

// Runs the recipe's passes over a copy of the pristine graph and lowers the result. Inputs get no defaults here.
Result<Built> build_plan(const Graph& graph, const Recipe& recipe, const BuildOptions& options = {});
// The same graph after the recipe's passes, for inspection.
Result<Graph> apply_passes(const Graph& graph, const Recipe& recipe, PassReport* report = nullptr);

// The processor that plans built here are for: name and instruction sets; a plan refuses to load on another.
std::string device_fingerprint();

}  // namespace rung
