// Lowers element-wise ops to primitives: operands are loaded and converted, computed with and stored in registers.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/status.hpp"
#include "kernels/generated/primitives.hpp"
#include "kernels/problem.hpp"

namespace rung::generated {

// Returns what an element-wise op computes for one vector of elements. Errors: a type or a function that no vectors
// compute.
Result<Body> lower(const Problem& problem, VectorSet set);

}  // namespace rung::generated
