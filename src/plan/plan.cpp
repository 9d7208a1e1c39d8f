// Describes a step to its kernel.
// SPDX-License-Identifier: Apache-2.0
#include "plan/plan.hpp"

namespace rung {

std::vector<Type> operand_types(const Step& step) {
  std::vector<Type> types;
  for (const PlanOperand& input : step.inputs) types.push_back(type_of(input));
  return types;
}

Problem problem_of(const Step& step, int threads) {
  Problem problem{
      .op = step.op, .inputs = {}, .output = step.output.view, .threads = threads, .params = step.choice.params};
  for (const auto& input : step.inputs) problem.inputs.push_back(input.view);
  return problem;
}

DType computed_in(const Plan& plan) {
  DType found = narrowest(plan.recipe.precision);
  for (const Step& step : plan.steps) found = coarser(found, step.output.view.dtype);
  return found;
}

}  // namespace rung
