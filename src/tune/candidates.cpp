// Enumerates candidates from the kernel tables.
// SPDX-License-Identifier: Apache-2.0
#include "tune/candidates.hpp"

#include <fmt/ranges.h>

#include <algorithm>

namespace rung {
namespace {

void add_variants(const Target& target, const Problem& problem, const Kernel& kernel,
                  std::vector<KernelCandidate>& list) {
  for (const auto& tunable : kernel.tunables_for(problem, target.machine))
    for (const int64_t value : tunable.values_to_try())
      if (value != tunable.values[0]) list.push_back({&kernel, {{std::string(tunable.name), value}}});
}

// The first few of a long list, and how many more there are.
std::string listed(std::span<const int64_t> values) {
  constexpr size_t kMost = 16;
  if (values.size() <= kMost) return fmt::format("{}", fmt::join(values, ", "));
  return fmt::format("{} and {} more", fmt::join(values.first(kMost), ", "), values.size() - kMost);
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

Verdict takes_params(const Target& target, const Kernel& kernel, const Problem& problem, const Params& params) {
  if (params.empty()) return accept();
  const auto tunables = kernel.tunables_for(problem, target.machine);
  for (const auto& [name, value] : params) {
    auto tunable = std::ranges::find(tunables, name, &Tunable::name);
    if (tunable == tunables.end()) return reject(fmt::format("{} has no parameter '{}' here", kernel.name, name));
    if (std::find(tunable->values.begin(), tunable->values.end(), value) == tunable->values.end())
      return reject(fmt::format("{}: got {}={}, wanted one of {}", kernel.name, name, value, listed(tunable->values)));
  }
  return accept();
}

}  // namespace rung
