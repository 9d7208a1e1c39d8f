// Turns a graph whose passes have run into launches: views resolved, kernels chosen, constants packed, buffers given
// lifetimes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/graph.hpp"
#include "plan/plan.hpp"

namespace rung {

// For plan.target. Fills steps, buffers, weights, inputs (name, type, buffer) and outputs of the plan, and arena_bytes.
Status lower(const Graph& graph, const Recipe& recipe, Plan& plan);

}  // namespace rung
