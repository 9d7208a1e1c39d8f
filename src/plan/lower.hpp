// Turns a graph after its passes into launches: resolves views, chooses kernels, lists constants, gives buffers
// lifetimes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/graph.hpp"
#include "plan/plan.hpp"
#include "plan/weight_table.hpp"

namespace rung {

// Lowers for plan.target. Fills the plan's steps, buffers, inputs (name, type, buffer), outputs and arena_bytes;
// removes choices that decided nothing from plan.recipe. Returns the plan's table of weights, which reads the graph.
Result<WeightTable> lower(const Graph& graph, const Recipe& recipe, Plan& plan);

}  // namespace rung
