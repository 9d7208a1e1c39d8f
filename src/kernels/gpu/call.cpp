// Checks a call's operands, and launches a kernel of an embedded module.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/kernel.hpp"
#include "kernels/params_text.hpp"

namespace rung::gpu {
namespace {

Status check_addresses(const Kernel& kernel, const Call& call) {
  for (size_t i = 0; i < call.problem.inputs.size(); ++i)
    if (call.inputs[i] % kernel.alignment)
      return fail("{}: operand {} begins at {:#x}, wanted a multiple of {} bytes", kernel.name, i, call.inputs[i],
                  kernel.alignment);
  if (call.output % kBufferAlignment || call.scratch % kBufferAlignment)
    return fail("{}: the result begins at {:#x} and scratch at {:#x}, wanted multiples of {} bytes", kernel.name,
                call.output, call.scratch, kBufferAlignment);
  return {};
}

}  // namespace

Status enqueue(const Kernel& kernel, const Call& call) {
  RUNG_CHECK(check_addresses(kernel, call));
  return kernel.enqueue(call);
}

Status enqueue_joined(const Kernel& kernel, std::span<const Call> calls, Address barriers, uint32_t beside) {
  for (const Call& call : calls) RUNG_CHECK(check_addresses(kernel, call));
  return kernel.joining->enqueue(calls, barriers, beside);
}

Status Call::no_kernel(std::string_view module) const {
  return fail("{} has no kernel that is compiled for this {}{}", module, op_family(problem.op),
              params_text(problem.params));
}

Status Call::launch_raw(std::string_view module, std::string_view function, const Launch& shape,
                        void** parameters) const {
  if (function.empty()) return no_kernel(module);
  RUNG_TRY(Function loaded, gpu.function(module, function, shape.shared_bytes));
  return gpu.check(gpu.runtime().launch(loaded, shape, parameters, stream), function);
}

}  // namespace rung::gpu
