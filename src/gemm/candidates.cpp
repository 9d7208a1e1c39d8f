// Enumerates candidates from the kernel tables.
// SPDX-License-Identifier: Apache-2.0
#include "gemm/candidates.hpp"

namespace rung {
namespace {

void add_variants(const cpu::Problem& problem, const cpu::Kernel& kernel, std::vector<KernelCandidate>& list) {
  if (!kernel.tunables) return;
  for (const auto& tunable : kernel.tunables(problem))
    for (size_t i = 1; i < tunable.values.size(); ++i)
      list.push_back({&kernel, {{std::string(tunable.name), tunable.values[i]}}});
}

}  // namespace

Candidates candidates_for(const cpu::Problem& problem, const cpu::Kernel* library_default) {
  Candidates found;
  std::vector<const cpu::Kernel*> rows;
  const auto table = cpu::kernels_for(cpu::op_family(problem.op));
  for (const auto* kernel : table) {
    bool reference = kernel == table.back();
    if (reference && !rows.empty()) break;
    Verdict verdict = kernel->supports(problem, cpu::cpu_info());
    if (!verdict) {
      found.refused.push_back({std::string(kernel->name), verdict.reason});
    } else if (kernel == library_default) {
      rows.insert(rows.begin(), kernel);
    } else {
      rows.push_back(kernel);
    }
  }
  for (const auto* kernel : rows) found.list.push_back({kernel, {}});
  for (const auto* kernel : rows) add_variants(problem, *kernel, found.list);
  return found;
}

}  // namespace rung
