// Finds runs of steps of one row that can do several in a launch.
// SPDX-License-Identifier: Apache-2.0
#include "plan/joined.hpp"

#include "kernels/kernel.hpp"

namespace rung {
namespace {

// Returns how many steps from `first` on one launch does.
size_t joined_from(const Plan& plan, size_t first) {
  const Kernel* kernel = plan.target->kernel_named(plan.steps[first].choice.kernel);
  if (!kernel || !kernel->joining) return 1;
  std::vector<Problem> problems;
  for (size_t i = first; i < plan.steps.size() && plan.steps[i].choice.kernel == kernel->name; ++i)
    problems.push_back(problem_of(plan.steps[i], plan.recipe.threads));
  return kernel->joining->count(problems, plan.target->machine);
}

}  // namespace

std::vector<size_t> steps_of_launches(const Plan& plan) {
  if (!plan.recipe.joined) return std::vector<size_t>(plan.steps.size(), 1);
  std::vector<size_t> counts;
  for (size_t i = 0; i < plan.steps.size(); i += counts.back()) counts.push_back(joined_from(plan, i));
  return counts;
}

}  // namespace rung
