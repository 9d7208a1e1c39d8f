// Lowers regions with values of rows to bodies: sweeps over a row, and what is computed of the row between them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/status.hpp"
#include "kernels/generated/region_body.hpp"
#include "kernels/problem.hpp"

namespace rung::generated {

// Errors: a type that no vectors compute, or more instructions, values or elements than a function takes.
Result<RegionBody> lower_region(const Problem& problem, VectorSet set);

}  // namespace rung::generated
