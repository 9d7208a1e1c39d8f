// Turns a graph whose passes have run into launches: views resolved, kernels chosen, constants listed, buffers given
// lifetimes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/graph.hpp"
#include "plan/plan.hpp"
#include "plan/weight_table.hpp"

namespace rung {

// For plan.target. Fills steps, buffers, inputs (name, type, buffer) and outputs of the plan, and arena_bytes; takes
// out of plan.recipe the choices that decided nothing. Returns the table of its weights, which reads the graph.
Result<WeightTable> lower(const Graph& graph, const Recipe& recipe, Plan& plan);

}  // namespace rung
