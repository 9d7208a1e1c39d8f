// Which kernel row runs a problem: the recipe's choice, else the library's default row (before tuning) or the first row
// in order of preference that can.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/target.hpp"
#include "passes/pass.hpp"
#include "plan/recipe.hpp"

namespace rung {

struct Chosen {
  const Kernel* kernel = nullptr;
  std::map<std::string, int64_t, std::less<>> params;
};

// The scalar rows that close every table; never chosen while another row can run, if need be on copied operands.
bool is_reference_row(const Kernel& kernel);

// Null kernel: no row but the reference can run the problem as it stands. Errors: the recipe names a kernel that does
// not exist, cannot run the problem or does not take its parameters.
Result<Chosen> choose_kernel(const Target& target, const Problem& problem, const Recipe& recipe);

// For --explain: every row of the family with its verdict.
std::vector<std::pair<std::string, Verdict>> explain_kernels(const Target& target, const Problem& problem);

// The passes' question, answered from the rows: is there one (other than the reference) for this op over dense
// operands?
KernelQuery kernel_query(const Target& target, int threads);

}  // namespace rung
