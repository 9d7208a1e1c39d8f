// The least time that one more token can take: what it reads, by the speed of memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "plan/plan.hpp"

namespace rung::tasks {

// Returns the bytes of memory that a step over one more token reads, weights and caches, with a text of that length.
double bytes_per_token(const Plan& plan, int64_t length);
// Returns how fast the plan's device reads memory, in GB/s, with as many threads as the plan has; 0: not known. A
// process measures each number of threads and each device once.
double read_gbps(const Plan& plan);

}  // namespace rung::tasks
