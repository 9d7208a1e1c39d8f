// Kernel choice from the ordered tables.
// SPDX-License-Identifier: Apache-2.0
#include "plan/kernel_choice.hpp"

#include "gemm/candidates.hpp"
#include "gemm/problem.hpp"

namespace rung {

bool is_reference_row(const cpu::Kernel& kernel) { return kernel.name.ends_with("_reference"); }

const cpu::Kernel* library_row(std::string_view family) {
  if (family == "linear") return cpu::kernel_named("linear_onednn");
  if (family == "matmul") return cpu::kernel_named("matmul_onednn");
  return nullptr;
}

Result<Chosen> choose_kernel(const cpu::Problem& problem, const Recipe& recipe) {
  const auto& info = cpu::cpu_info();
  std::string_view family = cpu::op_family(problem.op);
  if (recipe.tuned_kernels) {
    auto it = recipe.choices.find(problem_key(problem));
    if (it != recipe.choices.end()) {
      const auto* kernel = cpu::kernel_named(it->second.kernel);
      if (!kernel || kernel->op != family)
        return fail("recipe: '{}': there is no {} kernel '{}'", it->first, family, it->second.kernel);
      if (Verdict verdict = kernel->supports(problem, info); !verdict)
        return fail("recipe: '{}': kernel '{}' cannot run it: {}", it->first, it->second.kernel, verdict.reason);
      if (Verdict verdict = takes_params(*kernel, problem, it->second.params); !verdict)
        return fail("recipe: '{}': {}", it->first, verdict.reason);
      return Chosen{kernel, it->second.params};
    }
  } else if (const auto* library = library_row(family); library && library->supports(problem, info)) {
    return Chosen{library, {}};
  }
  for (const auto* kernel : cpu::kernels_for(family))
    if (!is_reference_row(*kernel) && kernel->supports(problem, info)) return Chosen{kernel, {}};
  return Chosen{};
}

std::vector<std::pair<std::string, Verdict>> explain_kernels(const cpu::Problem& problem) {
  std::vector<std::pair<std::string, Verdict>> rows;
  for (const auto* kernel : cpu::kernels_for(cpu::op_family(problem.op)))
    rows.emplace_back(std::string(kernel->name), kernel->supports(problem, cpu::cpu_info()));
  return rows;
}

KernelQuery kernel_query(int threads) {
  return [threads](const Op& op, std::span<const Type> operands) -> Verdict {
    auto type = infer_type(op, operands);
    if (!type) return reject(type.error().message);
    cpu::Problem problem{.op = op,
                         .inputs = {},
                         .output = {type->dtype, type->shape, contiguous_strides(type->shape)},
                         .threads = threads};
    for (size_t i = 0; i < operands.size(); ++i) {
      bool constant = as<Linear>(op) && i == 1;
      problem.inputs.push_back({operands[i].dtype, operands[i].shape, contiguous_strides(operands[i].shape), constant});
    }
    std::string reason = "no kernel row for it";
    for (const auto* kernel : cpu::kernels_for(cpu::op_family(op))) {
      Verdict verdict = kernel->supports(problem, cpu::cpu_info());
      if (verdict) return accept();
      reason = verdict.reason;
    }
    return reject(reason);
  };
}

}  // namespace rung
