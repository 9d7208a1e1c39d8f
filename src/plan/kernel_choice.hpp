// Which kernel row runs a problem: the recipe's choice, else the library's default row (before tuning) or the first row
// in order of preference that can.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/candidate.hpp"
#include "kernels/target.hpp"
#include "passes/pass.hpp"
#include "plan/recipe.hpp"

namespace rung {

// Null kernel: no row but a fallback can run the problem as it stands. A choice of the recipe that cannot run the
// problem (it may be of another machine) is passed over. Errors: the recipe names a kernel that does not exist, or
// gives it parameters that it does not take.
Result<KernelCandidate> choose_kernel(const Target& target, const Problem& problem, const Recipe& recipe);

// For --explain: every row of the family with its verdict.
std::vector<std::pair<std::string, Verdict>> explain_kernels(const Target& target, const Problem& problem);

// The passes' question, answered from the rows: is there one (other than a fallback) for this op over dense
// operands?
KernelQuery kernel_query(const Target& target, int threads);

}  // namespace rung
