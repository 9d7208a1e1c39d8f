// Finds the row's solution and compares it with the default.
// SPDX-License-Identifier: Apache-2.0
#include "stacks/lint/measure_row.hpp"

#include <algorithm>

#include "stacks/gemm_problem.hpp"
#include "stacks/library_choice.hpp"
#include "stacks/product_tuner.hpp"
#include "tune/compare.hpp"

namespace rung::stacks {

Result<MeasuredRow> measure_row(const Target& target, const Entry& entry) {
  if (!target.gpu) return fail("the device {} runs no solutions of these files", target.name);
  if (target.machine.gpu.counts_instructions) return fail("{} counts instructions and takes no times", target.name);
  if (!entry.shape || !entry.solution) return fail("a row without a product and a solution");
  RUNG_TRY(const Problem problem, problem_of(*entry.shape, 0));
  if (Verdict verdict = fits(problem, target); !verdict) return fail("{}", verdict.reason);
  RUNG_TRY(const KernelChoice choice, choice_of(target, problem, *entry.solution));
  const Candidates candidates = candidates_for(target, problem, Rows::library);
  if (candidates.list.empty()) return fail("no library has this product");
  const std::vector<KernelCandidate> both{candidates.list.front(), {target.kernel_named(choice.kernel), choice.params}};
  RUNG_TRY(const Compared compared, compare_in_worker({.target = &target,
                                                       .problem = problem,
                                                       .candidates = both,
                                                       .working_set_bytes = kColdWeights,
                                                       .seconds_each = kPairSeconds,
                                                       .hang_seconds = kPairHangSeconds,
                                                       .out_of_time = {}}));
  const RatioEstimate& ratio = compared.ratio;  // the default's time divided by the row's: below 1, the row is slower
  return MeasuredRow{.us = compared.first_us / ratio.ratio,
                     .default_us = compared.first_us,
                     .noise = std::max(ratio.hi / ratio.ratio, ratio.ratio / ratio.lo) - 1};
}

}  // namespace rung::stacks
