// Bounds and kernels of a loaded plan.
// SPDX-License-Identifier: Apache-2.0
#include "plan/check.hpp"

#include <algorithm>

#include "gemm/candidates.hpp"
#include "plan/kernel_choice.hpp"

namespace rung {
namespace {

constexpr uint64_t kMaxArena = uint64_t{1} << 40;

// Bytes from the operand's first element to past its last; nullopt if a stride is negative or anything exceeds
// kMaxArena, so that a stride times its dimension never overflows.
std::optional<uint64_t> extent(const Operand& view) {
  uint64_t last = 0;
  bool empty = false;
  for (int i = 0; i < view.shape.rank(); ++i) {
    auto stride = static_cast<uint64_t>(view.strides[i]);  // a negative one exceeds kMaxArena
    if (stride > kMaxArena) return std::nullopt;
    empty = empty || view.shape[i] == 0;
    uint64_t reach = 0;
    if (view.shape[i] > 1 && __builtin_mul_overflow(static_cast<uint64_t>(view.shape[i] - 1), stride, &reach))
      return std::nullopt;
    if (__builtin_add_overflow(last, reach, &last) || last > kMaxArena) return std::nullopt;
  }
  return empty ? 0 : (last + 1) * size_of(view.dtype);
}

Status check_strides(const PlanOperand& operand) {
  if (!extent(operand.view)) return fail("strides {} of {} are out of range", operand.view.strides, operand.view.shape);
  return {};
}

Status check_operand(const Plan& plan, const PlanOperand& operand) {
  bool weight = operand.region == Region::weight;
  size_t count = weight ? plan.weights.size() : plan.buffers.size();
  if (operand.index >= count) return fail("{} {} of {}", weight ? "weight" : "buffer", operand.index, count);
  uint64_t bytes = weight ? plan.weights[operand.index].bytes : plan.buffers[operand.index].bytes;
  auto wanted = extent(operand.view);
  if (!wanted || operand.offset > bytes || *wanted > bytes - operand.offset)
    return fail("an operand reaches past its {} bytes", bytes);
  return {};
}

Status check_inputs(const Plan& plan, const Step& step, const Kernel& kernel, const Problem& problem) {
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    const PlanOperand& input = step.inputs[i];
    size_t packed = input.region == Region::weight && kernel.packed_bytes ? kernel.packed_bytes(problem, i) : 0;
    if (packed == 0) {
      RUNG_CHECK(check_operand(plan, input));
    } else if (input.index >= plan.weights.size() || input.offset != 0 || plan.weights[input.index].bytes != packed) {
      return fail("packed operand {}: wanted {} bytes", i, packed);
    }
  }
  return {};
}

Status check_step(const Plan& plan, const Step& step) {
  const auto* kernel = plan.target->kernel_named(step.kernel);
  if (!kernel || kernel->op != op_family(step.op)) return fail("there is no kernel '{}' for it here", step.kernel);
  std::vector<Type> types;
  for (const auto& input : step.inputs) types.push_back({input.view.dtype, input.view.shape});
  RUNG_TRY(Type type, infer_type(step.op, types));
  if (!(type == Type{step.output.view.dtype, step.output.view.shape}) || !step.output.view.contiguous())
    return fail("its result is not a dense {}", type);
  for (const auto& input : step.inputs) RUNG_CHECK(check_strides(input));
  Problem problem = problem_of(step, plan.recipe.threads);
  if (Verdict verdict = plan.target->supports(*kernel, problem); !verdict)
    return fail("kernel '{}': {}", step.kernel, verdict.reason);
  if (Verdict verdict = takes_params(*kernel, problem, step.params); !verdict) return fail("{}", verdict.reason);
  RUNG_CHECK(check_inputs(plan, step, *kernel, problem));
  if (step.output.region != Region::buffer) return fail("its result is not in a buffer");
  RUNG_CHECK(check_operand(plan, step.output));
  size_t scratch = kernel->scratch_bytes ? kernel->scratch_bytes(problem) : 0;
  if (scratch > 0 &&
      (!step.scratch || *step.scratch >= plan.buffers.size() || plan.buffers[*step.scratch].bytes < scratch))
    return fail("wanted {} bytes of scratch", scratch);
  return {};
}

Status check_port(const Plan& plan, const std::string& name, const Type& type, uint32_t buffer) {
  if (buffer >= plan.buffers.size() || plan.buffers[buffer].bytes < type.bytes())
    return fail("'{}' has no buffer of {} bytes", name, type.bytes());
  return {};
}

// Uses outside a buffer's lifetime would read another's bytes.
Status check_lifetimes(const Plan& plan) {
  auto covers = [&](uint32_t buffer, uint32_t step) {
    return plan.buffers[buffer].first_step <= step && step <= plan.buffers[buffer].last_step;
  };
  for (uint32_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    bool alive = covers(step.output.index, i) && (!step.scratch || covers(*step.scratch, i));
    for (const auto& input : step.inputs) alive = alive && (input.region == Region::weight || covers(input.index, i));
    if (!alive) return fail("step {} ({}) uses a buffer that is not alive", i, step.label);
  }
  for (const auto& input : plan.inputs)
    if (!covers(input.buffer, 0)) return fail("input '{}' is not alive at the start", input.name);
  for (const auto& output : plan.outputs)
    if (!covers(output.buffer, static_cast<uint32_t>(plan.steps.size())))
      return fail("output '{}' is not alive at the end", output.name);
  return {};
}

Status check_buffers(const Plan& plan) {
  if (plan.arena_bytes > kMaxArena) return fail("an arena of {} bytes is out of range", plan.arena_bytes);
  std::vector<const Buffer*> by_start;
  for (const Buffer& b : plan.buffers) {
    if (b.offset % 64 || b.offset > plan.arena_bytes || b.bytes > plan.arena_bytes - b.offset ||
        b.first_step > b.last_step)
      return fail("a buffer of {} bytes at {} does not fit the arena of {}", b.bytes, b.offset, plan.arena_bytes);
    by_start.push_back(&b);
  }
  // Sweep over steps, keeping those alive: few at a time in a sound plan.
  std::sort(by_start.begin(), by_start.end(), [](auto* a, auto* b) { return a->first_step < b->first_step; });
  std::vector<const Buffer*> alive;
  for (const Buffer* b : by_start) {
    std::erase_if(alive, [&](const Buffer* a) { return a->last_step < b->first_step; });
    for (const Buffer* a : alive)
      if (a->offset < b->offset + b->bytes && b->offset < a->offset + a->bytes)
        return fail("two buffers alive at step {} overlap", b->first_step);
    alive.push_back(b);
  }
  return {};
}

}  // namespace

Status check_plan(const Plan& plan) {
  RUNG_CHECK(check_buffers(plan));
  for (size_t i = 0; i < plan.steps.size(); ++i)
    if (auto status = check_step(plan, plan.steps[i]); !status)
      return fail("step {} ({}): {}", i, plan.steps[i].label, status.error().message);
  for (const auto& input : plan.inputs) RUNG_CHECK(check_port(plan, input.name, input.type, input.buffer));
  for (const auto& output : plan.outputs) RUNG_CHECK(check_port(plan, output.name, output.type, output.buffer));
  return check_lifetimes(plan);
}

}  // namespace rung
