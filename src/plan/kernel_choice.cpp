// Kernel choice from the ordered tables.
// SPDX-License-Identifier: Apache-2.0
#include "plan/kernel_choice.hpp"

#include "gemm/candidates.hpp"
#include "gemm/problem.hpp"

namespace rung {

bool is_reference_row(const Kernel& kernel) { return kernel.name.ends_with("_reference"); }

Result<Chosen> choose_kernel(const Target& target, const Problem& problem, const Recipe& recipe) {
  std::string_view family = op_family(problem.op);
  if (recipe.tuned_kernels) {
    auto it = recipe.choices.find(problem_key(problem));
    if (it != recipe.choices.end()) {
      const auto* kernel = target.kernel_named(it->second.kernel);
      if (!kernel || kernel->op != family)
        return fail("recipe: '{}': there is no {} kernel '{}'", it->first, family, it->second.kernel);
      if (Verdict verdict = target.supports(*kernel, problem); !verdict)
        return fail("recipe: '{}': kernel '{}' cannot run it: {}", it->first, it->second.kernel, verdict.reason);
      if (Verdict verdict = takes_params(*kernel, problem, it->second.params); !verdict)
        return fail("recipe: '{}': {}", it->first, verdict.reason);
      return Chosen{kernel, it->second.params};
    }
  } else if (const auto* library = target.library_row(family); library && target.supports(*library, problem)) {
    return Chosen{library, {}};
  }
  for (const auto* kernel : target.kernels_for(family))
    if (!is_reference_row(*kernel) && target.supports(*kernel, problem)) return Chosen{kernel, {}};
  return Chosen{};
}

std::vector<std::pair<std::string, Verdict>> explain_kernels(const Target& target, const Problem& problem) {
  std::vector<std::pair<std::string, Verdict>> rows;
  for (const auto* kernel : target.kernels_for(op_family(problem.op)))
    rows.emplace_back(std::string(kernel->name), target.supports(*kernel, problem));
  return rows;
}

KernelQuery kernel_query(const Target& target, int threads) {
  return [&target, threads](const Op& op, std::span<const Type> operands) -> Verdict {
    auto type = infer_type(op, operands);
    if (!type) return reject(type.error().message);
    Problem problem{.op = op,
                    .inputs = {},
                    .output = {type->dtype, type->shape, contiguous_strides(type->shape)},
                    .threads = threads};
    for (size_t i = 0; i < operands.size(); ++i) {
      bool constant = as<Linear>(op) && i == 1;
      problem.inputs.push_back({operands[i].dtype, operands[i].shape, contiguous_strides(operands[i].shape), constant});
    }
    std::string reason = "no kernel row for it";
    for (const auto* kernel : target.kernels_for(op_family(op))) {
      if (kernel->last_resort) continue;
      Verdict verdict = target.supports(*kernel, problem);
      if (verdict) return accept();
      reason = verdict.reason;
    }
    return reject(reason);
  };
}

}  // namespace rung
