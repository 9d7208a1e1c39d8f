// Gives buffers addresses in one arena; buffers whose lifetimes do not overlap may share addresses.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "plan/plan.hpp"

namespace rung {

// Sets every buffer's offset (at kBufferAlignment) and returns the arena's size. Buffers are placed largest first, each
// in the lowest gap between those alive at the same time; states have memory of their own.
uint64_t plan_memory(std::vector<Buffer>& buffers, const std::vector<PlanState>& states = {});

}  // namespace rung
