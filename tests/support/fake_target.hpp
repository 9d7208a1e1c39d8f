// A target of a GPU without hardware whose kernels are the processor's fallbacks: plans run and are right, until a
// launch faults.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/cpu/bind.hpp"
#include "kernels/gpu/kernel.hpp"
#include "kernels/target.hpp"
#include "support/fake_gpu.hpp"

namespace rung::testing {

inline Status enqueue_fallback(const gpu::Call& call) {
  std::vector<const void*> inputs;
  for (size_t i = 0; i < call.problem.inputs.size(); ++i) inputs.push_back(gpu::device_pointer(call.inputs[i]));
  Problem problem = call.problem;
  problem.threads = 1;
  const Kernel* row = cpu_target().row_of(op_family(problem.op), Role::fallback);
  auto bound = std::make_shared<cpu::Bound>(
      cpu::bind(*row, std::move(problem), std::move(inputs), gpu::device_pointer(call.output)));
  return call.gpu.check(fake::submit(call.stream,
                                     [bound, flag = gpu::device_pointer(call.fault)] {
                                       cpu::Team alone(1);
                                       std::atomic<Fault> fault{Fault::none};
                                       bound->run(alone, &fault);
                                       if (fault != Fault::none) *static_cast<Fault*>(flag) = fault;
                                     }),
                        row->name);
}

// The fallback of every family, by its own name.
inline std::span<const Kernel* const> fake_rows() {
  static const auto* rows = [] {
    auto* made = new std::vector<const Kernel*>;
    for (const Kernel* row : cpu::all_kernels())
      if (row->role == Role::fallback)
        made->push_back(
            new Kernel{.name = row->name, .op = row->op, .supports = row->supports, .enqueue = enqueue_fallback});
    return made;
  }();
  return *rows;
}

// Over a new device, with fake_state() as new.
inline Target fake_target() {
  return {.kind = "fake",
          .name = "fake",
          .fingerprint = "fake",
          .machine = Machine(cpu::cpu_info()),
          .kernels = fake_rows(),
          .gpu = fake_gpu()};
}

}  // namespace rung::testing
