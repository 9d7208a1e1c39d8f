// Enqueues single steps: on a described device at made-up addresses, on an emulated one in its own memory.
// SPDX-License-Identifier: Apache-2.0
#include "predict/described_steps.hpp"

#include "device/gpu/current_context.hpp"
#include "device/gpu/emulated.hpp"
#include "kernels/gpu/kernel.hpp"
#include "plan/step_cost.hpp"

namespace rung {
namespace {

// Made-up addresses are farther apart than any operand is long.
gpu::Address made_up_address(size_t index) { return gpu::Address{index + 1} << 40; }

// A step's operands in memory of an emulated device, all zeros, but for caches that are full.
struct Operands {
  std::vector<std::shared_ptr<gpu::Block>> blocks;
  std::vector<gpu::Address> inputs;
  gpu::Address output = 0, scratch = 0, fault = 0;
};

class Allocating {
 public:
  explicit Allocating(gpu::Queue& queue) : queue_(queue) {}

  Result<Operands> operands(const Plan& plan, const Step& step, const Kernel& kernel, const Problem& problem) {
    for (const PlanOperand& input : step.inputs) {
      const uint64_t bytes = input.storage == Storage::weight
                                 ? plan.weights[input.index].bytes
                                 : static_cast<uint64_t>(input.view.span()) * size_of(input.view.dtype);
      RUNG_TRY(const gpu::Address at, zeros(bytes));
      if (const auto length = full_length(problem, made_.inputs.size()))
        RUNG_CHECK(queue_.upload(at, &*length, sizeof *length));
      made_.inputs.push_back(at);
    }
    RUNG_TRY(made_.output, zeros(results_of(problem).back().end()));
    RUNG_TRY(made_.scratch, zeros(kernel.scratch_for(problem, plan.target->machine)));
    RUNG_TRY(made_.fault, zeros(sizeof(Fault)));
    return std::move(made_);
  }

 private:
  Result<gpu::Address> zeros(uint64_t bytes) {
    if (bytes == 0) return gpu::Address{0};
    RUNG_TRY(auto block, queue_.gpu().allocate(bytes));
    RUNG_CHECK(queue_.fill(block->address(), 0, bytes));
    return made_.blocks.emplace_back(std::move(block))->address();
  }
  gpu::Queue& queue_;
  Operands made_;
};

Result<const Kernel*> kernel_of(const Plan& plan, const Step& step) {
  const Kernel* kernel = plan.target->kernel_named(step.choice.kernel);
  if (!kernel) return fail("{}: {} has no kernel '{}'", step.label, plan.target->name, step.choice.kernel);
  return kernel;
}

// Opens the emulated device of this architecture.
Result<std::shared_ptr<gpu::Gpu>> emulated_for(const gpu::GpuInfo& info) {
  for (const amdgpu::IsaInfo& isa : amdgpu::kIsas)
    if (isa.executed && static_cast<int>(isa.number) == info.architecture)
      return gpu::Gpu::open(gpu::emulated_runtime(isa.isa), 0);
  return no_device("{}: nothing executes its code here", info.name);
}

}  // namespace

std::string work_key(const Step& step) { return step.choice.kernel + ' ' + step.problem; }

Result<std::vector<gpu::RecordedLaunch>> launches_of(const Plan& plan, const Step& step) {
  gpu::Gpu& device = *plan.target->gpu;
  const gpu::CurrentContext current(device);
  RUNG_TRY(auto queue, gpu::Queue::make(device));
  RUNG_TRY(const Kernel* kernel, kernel_of(plan, step));
  const Problem problem = problem_of(step, plan.recipe.threads);
  std::vector<gpu::Address> inputs;
  for (const PlanOperand& input : step.inputs) inputs.push_back(made_up_address(inputs.size()) + input.offset);
  const gpu::Address rest = made_up_address(inputs.size());
  RUNG_CHECK(gpu::enqueue(*kernel, {problem, inputs.data(), rest, made_up_address(inputs.size() + 1), nullptr,
                                    made_up_address(inputs.size() + 2), *queue}));
  return gpu::take_recorded_launches(device.context());
}

Result<amdgpu::Counts> executed_by(const Plan& plan, const Step& step) {
  RUNG_TRY(auto device, emulated_for(plan.target->machine.gpu));
  gpu::set_emulated_checks(device->context(), {.uninitialised = false, .races = false, .waits = false});  // for tests
  const gpu::CurrentContext current(*device);
  RUNG_TRY(auto queue, gpu::Queue::make(*device));
  RUNG_TRY(const Kernel* kernel, kernel_of(plan, step));
  const Problem problem = problem_of(step, plan.recipe.threads);
  RUNG_TRY(const Operands at, Allocating(*queue).operands(plan, step, *kernel, problem));
  RUNG_CHECK(gpu::enqueue(*kernel, {problem, at.inputs.data(), at.output, at.scratch, nullptr, at.fault, *queue}));
  RUNG_CHECK(queue->wait());
  return gpu::take_emulated_counts(device->context());
}

}  // namespace rung
