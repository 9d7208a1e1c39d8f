// Chooses kernels from the ordered tables.
// SPDX-License-Identifier: Apache-2.0
#include "plan/kernel_choice.hpp"

#include <algorithm>
#include <array>

#include "base/log.hpp"
#include "ir/semantics.hpp"
#include "kernels/problem_key.hpp"

namespace rung {

namespace {

// Returns the recipe's choice for the problem; its kernel is null if none is given or it cannot run the problem here.
Result<KernelCandidate> recipe_choice(const Target& target, const Problem& problem, const Recipe& recipe) {
  auto it = recipe.choices.find(problem_key(problem));
  if (it == recipe.choices.end()) return KernelCandidate{};
  const auto& [key, choice] = *it;
  const std::string_view family = op_family(problem.op);
  const auto* kernel = target.kernel_named(choice.kernel);
  if (!kernel || kernel->op != family)
    return mismatch("recipe: '{}': there is no {} kernel '{}'", key, family, choice.kernel);
  if (Verdict verdict = target.supports(*kernel, problem); !verdict) {
    log(1, "recipe: '{}': kernel '{}' cannot run it, the next that can does: {}", key, choice.kernel, verdict.reason);
    return KernelCandidate{};
  }
  if (Verdict verdict = takes_params(target, *kernel, problem, choice.params); !verdict)
    return mismatch("recipe: '{}': {}", key, verdict.reason);
  return KernelCandidate{kernel, choice.params};
}

// The first row other than a fallback that runs a problem: its place in order of preference, or why there is none.
struct FirstRow {
  Verdict verdict;
  size_t place = 0;
};

FirstRow first_row(const Target& target, const Problem& problem) {
  FirstRow found{reject("no fast kernel row for it")};
  const auto rows = target.kernels_for(op_family(problem.op));
  for (; found.place < rows.size(); ++found.place) {
    if (rows[found.place]->role == Role::fallback) continue;
    found.verdict = target.supports(*rows[found.place], problem);
    if (found.verdict) break;
  }
  return found;
}

// A row that knows no spans, or no results of 8 bits, may stand before those that do: an attention keeps the form that
// this row takes.
Verdict is_no_worse_for_its_form(const Target& target, const Problem& problem, size_t place) {
  const auto* attention = as<Attention>(problem.op);
  if (!attention) return accept();
  // Returns the row before that takes the attention with these fields, and with that type of its result.
  const auto row_before = [&](const Attention& op, DType result) -> const Kernel* {
    Problem simpler = problem;
    simpler.op = op, simpler.output.dtype = result;
    const FirstRow other = first_row(target, simpler);
    return other.verdict && other.place < place ? target.kernels_for(op_family(problem.op))[other.place] : nullptr;
  };
  Attention simpler = *attention;
  if (!attention->span.sees_all() && !attention->has_length()) {
    simpler.span = {};
    if (const Kernel* other = row_before(simpler, problem.output.dtype))
      return reject(fmt::format("{} reads masks alone", other->name));
  }
  if (!attention->is_plain()) {
    simpler = *attention;
    simpler.factor = 1, simpler.out.reset();
    if (const Kernel* other = row_before(simpler, problem.inputs[0].dtype))
      return reject(fmt::format("{} stores no other type than q's", other->name));
  }
  return accept();
}

const Kernel* default_in_place_of(const Target& target, const Kernel& kernel, const Problem& problem) {
  if (!kernel.yields_to) return &kernel;
  const Kernel* other = target.kernel_named(kernel.yields_to(problem));
  return other && target.supports(*other, problem) ? other : &kernel;
}

}  // namespace

Result<KernelCandidate> choose_kernel(const Target& target, const Problem& problem, const Recipe& recipe) {
  const std::string_view family = op_family(problem.op);
  if (recipe.tuned_kernels) {
    RUNG_TRY(KernelCandidate chosen, recipe_choice(target, problem, recipe));
    if (chosen.kernel) return chosen;
  } else if (const auto* baseline = target.library_row(family); baseline && target.supports(*baseline, problem)) {
    return KernelCandidate{baseline, {}};
  }
  for (const auto* kernel : target.kernels_for(family))
    if (kernel->role != Role::fallback && target.supports(*kernel, problem))
      return KernelCandidate{default_in_place_of(target, *kernel, problem), {}};
  return KernelCandidate{};
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
    const Semantics semantics = semantics_of(op, operands, *type);
    const auto* linear = as<Linear>(op);
    const auto* conv = as<Conv>(op);
    const auto follows_from_weights = [&](size_t i) {
      if (conv) return conv->slots.at(ConvSlot::scale) == static_cast<int>(i);
      return linear &&
             std::ranges::any_of(std::array{LinearSlot::scale, LinearSlot::group_scale, LinearSlot::group_offset},
                                 [&](LinearSlot slot) { return linear->slots.at(slot) == static_cast<int>(i); });
    };
    for (size_t i = 0; i < operands.size(); ++i) {
      const bool constant = semantics.operands[i].role == OperandRole::weights || follows_from_weights(i);
      problem.inputs.push_back({operands[i].dtype, operands[i].shape, contiguous_strides(operands[i].shape), constant});
    }
    const FirstRow found = first_row(target, problem);
    return found.verdict ? is_no_worse_for_its_form(target, problem, found.place) : found.verdict;
  };
}

}  // namespace rung
