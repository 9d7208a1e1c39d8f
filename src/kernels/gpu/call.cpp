// Checking a call's operands, and launching a kernel of an embedded module.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/kernel.hpp"

namespace rung::gpu {

Status Call::check_aligned() const {
  for (size_t i = 0; i < problem.inputs.size(); ++i)
    if (inputs[i] % 16 != 0)
      return fail("{}: operand {} begins at {:#x}, wanted a multiple of 16 bytes", op_family(problem.op), i, inputs[i]);
  return {};
}

Status Call::launch_raw(std::string_view module, std::string_view function, const Launch& shape,
                        void** parameters) const {
  RUNG_TRY(Function loaded, gpu.function(module, function, shape.shared_bytes));
  return gpu.check(gpu.runtime().launch(loaded, shape, parameters, stream), function);
}

}  // namespace rung::gpu
