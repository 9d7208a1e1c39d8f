// Chooses the kernel row of a problem: the recipe's choice, else the library's default row (before tuning), else the
// first in order of preference that can run it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/candidate.hpp"
#include "kernels/target.hpp"
#include "passes/pass.hpp"
#include "plan/recipe.hpp"

namespace rung {

// Null kernel: only a fallback row can run the problem as it stands. A recipe's choice that cannot run the problem (it
// may be of another machine) is passed over. Errors: the recipe names a kernel that does not exist, or gives it
// parameters that it does not take.
Result<KernelCandidate> choose_kernel(const Target& target, const Problem& problem, const Recipe& recipe);

// Returns every row of the family with its verdict, for --explain.
std::vector<std::pair<std::string, Verdict>> explain_kernels(const Target& target, const Problem& problem);

// Answers the passes' question from the rows: whether a row other than a fallback runs this op over dense operands.
KernelQuery kernel_query(const Target& target, int threads);

}  // namespace rung
