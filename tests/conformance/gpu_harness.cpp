// Puts a case into device memory between guard bytes, and runs a row on it twice.
// SPDX-License-Identifier: Apache-2.0
#include "gpu_harness.hpp"

#include <algorithm>

#include "device/gpu/current_context.hpp"
#include "kernels/generated/gpu/code.hpp"
#include "kernels/gpu/kernel.hpp"
#include "kernels/gpu/quantize/machine_f8.hpp"

namespace rung::test {
namespace {

constexpr size_t kGpuGuard = 256;  // keeps the alignment that a session gives
constexpr std::byte kGpuGuardByte{0xa5}, kGpuGarbage{0xcb};

// Device bytes with a guard on either side.
class GuardedBlock {
 public:
  static Result<GuardedBlock> make(gpu::Queue& queue, size_t bytes) {
    GuardedBlock guarded;
    guarded.bytes_ = bytes;
    std::vector<std::byte> host(bytes + 2 * kGpuGuard, kGpuGuardByte);
    std::fill_n(host.begin() + kGpuGuard, bytes, kGpuGarbage);
    RUNG_TRY(guarded.block_, queue.gpu().allocate(host.size()));
    RUNG_CHECK(queue.upload(guarded.block_->address(), host.data(), host.size()));
    return guarded;
  }
  gpu::Address address() const { return block_->address() + kGpuGuard; }
  // What lies between the guards; `intact` turns false when a guard was written.
  Result<std::vector<std::byte>> read(gpu::Queue& queue, bool& intact) const {
    std::vector<std::byte> host(bytes_ + 2 * kGpuGuard);
    RUNG_CHECK(queue.download(host.data(), block_->address(), host.size()));
    auto clean = [](auto first, auto last) {
      return std::all_of(first, last, [](std::byte b) { return b == kGpuGuardByte; });
    };
    intact = intact && clean(host.begin(), host.begin() + kGpuGuard) && clean(host.end() - kGpuGuard, host.end());
    return std::vector<std::byte>(host.begin() + kGpuGuard, host.end() - kGpuGuard);
  }

 private:
  std::shared_ptr<gpu::Block> block_;
  size_t bytes_ = 0;
};

// The operands that the op updates, which a row wants dense.
Result<std::vector<Tensor>> updated_operands(gpu::Queue& queue, const Problem& problem,
                                             const std::vector<gpu::Address>& inputs) {
  std::vector<Tensor> updated;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!updates(problem.op, i)) continue;
    Tensor& tensor = updated.emplace_back(Type{problem.inputs[i].dtype, problem.inputs[i].shape});
    RUNG_CHECK(queue.download(tensor.data(), inputs[i], tensor.bytes()));
  }
  return updated;
}

}  // namespace

void compile_for(const Target& target, const Kernel& row, const std::vector<Case>& cases) {
  std::vector<std::string> sources;
  for (const Case& test : cases) {
    if (!row.source || !target.supports(row, test.problem)) continue;
    if (auto source = row.source(test.problem, target.machine)) sources.push_back(source->text);
  }
  if (!sources.empty()) (void)gpu::compile_all(sources, target.machine.gpu);  // a row without its code says why
}

Result<Outcome> run_gpu_row(const Target& target, const Kernel& kernel, const Case& test) {
  gpu::Gpu& gpu = *target.gpu;
  const gpu::CurrentContext current(gpu);
  RUNG_TRY(std::unique_ptr<gpu::Queue> made, gpu::Queue::make(gpu));
  gpu::Queue& queue = *made;
  const Problem& problem = test.problem;
  std::vector<std::shared_ptr<gpu::Block>> blocks;
  std::vector<gpu::Address> inputs;
  for (NodeId operand : test.graph[test.node].operands) {
    auto view = cpu::resolve_view(test.graph, operand);
    const Tensor& tensor = test.inputs.at(test.graph.as<Input>(view.base)->name);
    const size_t i = inputs.size();
    const auto offset = static_cast<uint64_t>(view.offset) * size_of(tensor.dtype());
    if (auto packed = cpu::pack_operand(kernel, problem, target.machine, i, tensor.data() + offset)) {
      RUNG_TRY(blocks.emplace_back(), gpu.allocate(kernel.packed_for(problem, target.machine, i)));
      RUNG_CHECK(queue.upload(blocks.back()->address(), packed.get(), kernel.packed_for(problem, target.machine, i)));
      inputs.push_back(blocks.back()->address());
      continue;
    }
    const uint64_t shift = (kernel.alignment - offset % kernel.alignment) % kernel.alignment;  // a plan would copy
    RUNG_TRY(blocks.emplace_back(), gpu.allocate(tensor.bytes() + shift + 1));
    RUNG_CHECK(queue.upload(blocks.back()->address() + shift, tensor.data(), tensor.bytes()));
    inputs.push_back(blocks.back()->address() + shift + offset);
  }
  RUNG_TRY(GuardedBlock output, GuardedBlock::make(queue, result_bytes(test)));
  RUNG_TRY(GuardedBlock scratch, GuardedBlock::make(queue, kernel.scratch_for(problem, target.machine)));
  RUNG_TRY(auto fault, gpu.allocate(sizeof(Fault)));
  Outcome outcome;
  RUNG_CHECK(queue.upload(fault->address(), &outcome.fault, sizeof(Fault)));
  std::shared_ptr<void> state = kernel.state_for(problem, target.machine);
  auto call = [&] {
    return gpu::enqueue(
        kernel, {problem, inputs.data(), output.address(), scratch.address(), state.get(), fault->address(), queue});
  };
  bool intact = true;
  RUNG_CHECK(call());
  RUNG_TRY(auto first, output.read(queue, intact));
  // An emulator's waves take the same turns every time: a second call of minutes in all would tell nothing.
  if (!target.machine.gpu.counts_instructions) RUNG_CHECK(call());
  RUNG_TRY(auto second, output.read(queue, intact));
  RUNG_TRY(auto ignored, scratch.read(queue, intact));
  (void)ignored;
  RUNG_CHECK(queue.download(&outcome.fault, fault->address(), sizeof(Fault)));
  RUNG_TRY(const std::vector<Tensor> updated, updated_operands(queue, problem, inputs));
  outcome.outputs = read_results(test, first.data(), updated);
  outcome.repeatable = first == second;
  outcome.cut_freely = true;  // calls of a GPU have no parts
  outcome.in_bounds = intact;
  return outcome;
}

bool has_another_machines_f8(const Problem& problem, const gpu::GpuInfo& gpu) {
  const auto is_anothers = [&](DType type) { return is_f8(type) && type != gpu::machine_f8(gpu); };
  const auto results = results_of(problem);
  return std::ranges::any_of(problem.inputs, [&](const Operand& operand) { return is_anothers(operand.dtype); }) ||
         std::ranges::any_of(results, [&](const ResultPlace& result) { return is_anothers(result.type.dtype); });
}

}  // namespace rung::test
