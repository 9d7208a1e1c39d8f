// Proves that every access of a loaded plan is valid.
// SPDX-License-Identifier: Apache-2.0
#include "plan/check.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <set>

#include "device/cpu/start_team.hpp"
#include "ir/bool_bytes.hpp"
#include "kernels/access.hpp"
#include "kernels/candidate.hpp"
#include "measure/cost.hpp"
#include "plan/buffers.hpp"
#include "plan/kernel_choice.hpp"
#include "plan/state_use.hpp"

namespace rung {
namespace {

// Every JSON reader holds integers up to this exactly, and their differences never overflow.
constexpr int64_t kMostIndex = int64_t{1} << 53;

// Checks that a weight read as bool holds 0 and 1 alone.
Status check_bools(const PlanOperand& operand, const PlanWeight& weight) {
  if (operand.view.dtype != DType::boolean || !weight.data || weight.read) return {};
  return first_non_bool(weight.data.get(), weight.bytes) == 0
             ? Status{}
             : fail("weight {} is read as bool, and holds more than 0 and 1", operand.index);
}

Status check_weight(const Plan& plan, const PlanOperand& operand, const Access& access) {
  if (operand.index >= plan.weights.size()) return fail("weight {} of {}", operand.index, plan.weights.size());
  const PlanWeight& weight = plan.weights[operand.index];
  if (access.packed && (operand.offset != 0 || weight.bytes != access.bytes))
    return fail("packed weight {}: got {} bytes from {}, wanted {} from 0", operand.index, weight.bytes, operand.offset,
                access.bytes);
  if (operand.offset > weight.bytes || access.bytes > weight.bytes - operand.offset)
    return fail("an operand reaches past its {} bytes", weight.bytes);
  if (operand.offset % access.alignment)
    return fail("an operand begins at byte {}, wanted a multiple of {}", operand.offset, access.alignment);
  return access.packed ? Status{} : check_bools(operand, weight);
}

// Compares a step's types with its op's type rule; operands are known to be in range.
Status check_types(const Step& step) {
  for (const PlanOperand& input : step.inputs) {
    RUNG_CHECK(dense_access(input.view));
    if (input.view.constant != (input.storage == Storage::weight))
      return fail("an operand is marked as constant or lies in a weight, wanted both or neither");
  }
  const std::vector<Type> types = operand_types(step);
  RUNG_TRY(Type type, infer_type(step.op, types));
  const PlanOperand& result = step.output;
  if (!(type == type_of(result))) return fail("its result is not a dense {}", type);
  if (result.storage != Storage::buffer || result.offset != 0 || result.view.constant)
    return fail("its result is not in a buffer, from the beginning");
  if (double flops = cost_of(step.op, types, type).flops; flops > kMostStepFlops)
    return fail("got {} operations, wanted at most {}", flops, kMostStepFlops);
  return {};
}

Status check_kernel(const Plan& plan, const Kernel& kernel, const Problem& problem, const Step& step) {
  if (Verdict verdict = kernel.supports(problem, plan.target->machine); !verdict)
    return fail("kernel '{}': {}", kernel.name, verdict.reason);
  Verdict verdict = takes_params(*plan.target, kernel, problem, step.choice.params);
  return verdict ? Status{} : fail("{}", verdict.reason);
}

// Checks an operand that the step updates, and could read: it is all of its buffer, and no other operand lies there.
Status check_update(const Step& step, size_t i, Holdings& holdings) {
  const PlanOperand& operand = step.inputs[i];
  const auto is_there = [&](const PlanOperand& other) { return is_in(other, operand.index); };
  if (operand.storage != Storage::buffer || operand.offset != 0 || !operand.view.contiguous())
    return fail("operand {}, which it updates, is not all of a buffer", i);
  if (std::ranges::count_if(step.inputs, is_there) != 1)
    return fail("it reads operand {} as another one, too, and updates it", i);
  return holdings.update(operand.index, type_of(operand));
}

// Reads operands before it adds the result and scratch, so that operands cannot lie in the step's own buffers.
Status check_accesses(const Plan& plan, const Kernel& kernel, uint32_t index, Holdings& holdings) {
  const Step& step = plan.steps[index];
  const Problem problem = problem_of(step, plan.recipe.threads);
  RUNG_CHECK(check_result(kernel, problem));
  RUNG_CHECK(check_kernel(plan, kernel, problem, step));
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    RUNG_TRY(Access access, operand_access(kernel, problem, plan.target->machine, i));
    const PlanOperand& input = step.inputs[i];
    RUNG_CHECK(input.storage == Storage::weight ? check_weight(plan, input, access)
                                                : holdings.check_read(input, access, index));
  }
  if (const PlanState* state = state_in(plan, step.output.index))
    for (size_t i = 0; i < step.inputs.size(); ++i)
      if (is_in(step.inputs[i], state->buffer) && !may_update(plan, step, i))
        return fail("it reads state '{}' while it writes it", state->name);
  for (size_t i = 0; i < step.inputs.size(); ++i)
    if (updates(step.op, i)) RUNG_CHECK(check_update(step, i, holdings));
  RUNG_CHECK(holdings.add_results(step.output.index, results_of(problem), index));
  const uint64_t scratch = kernel.scratch_for(problem, plan.target->machine);
  if (step.scratch.has_value() != (scratch > 0))
    return fail("got {} scratch, wanted {} bytes", step.scratch ? "some" : "no", scratch);
  return step.scratch ? holdings.add_scratch(*step.scratch, scratch, index) : Status{};
}

Status check_step(const Plan& plan, uint32_t index, Holdings& holdings) {
  const Step& step = plan.steps[index];
  const Kernel* kernel = plan.target->kernel_named(step.choice.kernel);
  if (!kernel || kernel->op != op_family(step.op))
    return fail("there is no kernel '{}' for it here", step.choice.kernel);
  RUNG_CHECK(check_types(step));
  try {  // kernel rows call libraries, which throw
    return check_accesses(plan, *kernel, index, holdings);
  } catch (const std::bad_alloc&) {
    return no_memory("out of memory");
  } catch (const std::exception& exception) {
    return fail("kernel '{}': {}", step.choice.kernel, exception.what());
  }
}

Status check_range(const PlanInput& input) {
  if (!input.first && !input.last) return {};
  const int64_t least = input.first.value_or(0), most = input.last.value_or(-1);
  if (is_float(input.type.dtype) || !input.first || !input.last || least > most || least < -kMostIndex ||
      most > kMostIndex)
    return fail("got a range from {} to {} for {}, wanted integers in order, of at most {}", least, most, input.type,
                kMostIndex);
  return {};
}

// C ends a string at the first NUL, so two different names could look the same there.
template <class Ports>
Status check_names(const Ports& ports) {
  for (const auto& port : ports)
    if (port.name.find('\0') != std::string::npos) return fail("the name of an input or output holds a NUL");
  return {};
}

Status check_inputs(const Plan& plan, Holdings& holdings) {
  RUNG_CHECK(check_names(plan.inputs));
  RUNG_CHECK(check_names(plan.frozen));
  std::set<std::string_view> names;
  for (const PlanInput& input : plan.inputs) {
    auto status = holdings.add_input(input);
    if (status) status = check_range(input);
    if (status && input.value && !(input.value->type() == input.type))
      status = fail("got a default of {}, wanted {}", input.value->type(), input.type);
    if (!status) return fail_in(status.error(), "input '{}'", input.name);
    if (!names.insert(input.name).second) return fail("two inputs are named '{}'", input.name);
  }
  for (const FrozenInput& frozen : plan.frozen)
    if (!names.insert(frozen.name).second) return fail("two inputs are named '{}'", frozen.name);
  return {};
}

Status check_states(const Plan& plan, Holdings& holdings) {
  RUNG_CHECK(check_names(plan.states));
  std::set<std::string_view> names;
  for (const PlanState& state : plan.states) {
    auto status = holdings.add_state(state);
    if (status && state.value.has_value() != (state.initial == Initial::value))
      status = fail("got {} initial value, wanted {}", state.value ? "an" : "no", state.value ? "none" : "one");
    if (status && state.value && !(state.value->type() == state.type))
      status = fail("got an initial value of {}, wanted {}", state.value->type(), state.type);
    if (!status) return fail_in(status.error(), "state '{}'", state.name);
    if (!names.insert(state.name).second) return fail("two states are named '{}'", state.name);
  }
  return {};
}

Status check_outputs(const Plan& plan, const Holdings& holdings) {
  RUNG_CHECK(check_names(plan.outputs));
  std::set<std::string_view> names;
  for (const PlanOutput& output : plan.outputs) {
    if (auto status = holdings.check_output(output); !status)
      return fail_in(status.error(), "output '{}'", output.name);
    if (!names.insert(output.name).second) return fail("two outputs are named '{}'", output.name);
  }
  return {};
}

// CPU kernels share their work among the recipe's threads; a GPU's plan has no threads.
Status check_threads(const Plan& plan) {
  if (plan.target->kind == "cpu") return cpu::check_threads(plan.recipe.threads);
  return plan.recipe.threads == 0 ? Status{} : fail("got {} threads, wanted 0 for a GPU", plan.recipe.threads);
}

}  // namespace

Status check_plan(const Plan& plan) {
  RUNG_CHECK(check_threads(plan));
  RUNG_CHECK(check_buffers(plan));
  Holdings holdings(plan);
  RUNG_CHECK(check_inputs(plan, holdings));
  RUNG_CHECK(check_states(plan, holdings));
  for (uint32_t i = 0; i < plan.steps.size(); ++i)
    if (auto status = check_step(plan, i, holdings); !status)
      return fail_in(status.error(), "step {} ({})", i, plan.steps[i].label);
  return check_outputs(plan, holdings);
}

}  // namespace rung
