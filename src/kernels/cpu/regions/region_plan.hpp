// Cuts a region's program into sweeps over a row.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "kernels/cpu/regions/regions.hpp"
#include "kernels/problem.hpp"

namespace rung::cpu {

// Returns the plan; nullopt: the region has more operands, values or sweeps than the interpreter.
std::optional<RegionPlan> plan_region(const Problem& problem);

}  // namespace rung::cpu
