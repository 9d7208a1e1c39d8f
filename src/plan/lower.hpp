// Turns a graph whose passes have run into launches: views resolved, kernels chosen, constants packed, buffers given
// lifetimes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/graph.hpp"
#include "plan/plan.hpp"
#include "plan/weight_store.hpp"

namespace rung {

// For plan.target. Fills steps, buffers, weights, inputs (name, type, buffer) and outputs of the plan, and arena_bytes.
// Weights are shared through `store`, which may be null.
Status lower(const Graph& graph, const Recipe& recipe, WeightStore* store, Plan& plan);

}  // namespace rung
