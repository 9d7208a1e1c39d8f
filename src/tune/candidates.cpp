// Enumerates candidates from the kernel tables.
// SPDX-License-Identifier: Apache-2.0
#include "tune/candidates.hpp"

namespace rung {
namespace {

void add_variants(const Target& target, const Problem& problem, const Kernel& kernel,
                  std::vector<KernelCandidate>& list) {
  for (const auto& tunable : kernel.tunables_for(problem, target.machine))
    for (const Tunable::Values& values : tunable.values_to_try())
      if (values != tunable.values[0]) list.push_back({&kernel, tunable.params(values)});
}

}  // namespace

Candidates candidates_for(const Target& target, const Problem& problem, Rows which) {
  Candidates found;
  std::vector<const Kernel*> rows;
  const auto* baseline = target.library_row(op_family(problem.op));
  for (const auto* kernel : target.kernels_for(op_family(problem.op))) {
    if (which == Rows::library && kernel->role != Role::library) continue;
    if (kernel->role == Role::fallback && !rows.empty()) continue;
    Verdict verdict = target.supports(*kernel, problem);
    if (!verdict) {
      found.refused.push_back({std::string(kernel->name), verdict.reason});
    } else if (kernel == baseline) {
      rows.insert(rows.begin(), kernel);
    } else {
      rows.push_back(kernel);
    }
  }
  for (const auto* kernel : rows) found.list.push_back({kernel, {}});
  for (const auto* kernel : rows) add_variants(target, problem, *kernel, found.list);
  return found;
}

}  // namespace rung
