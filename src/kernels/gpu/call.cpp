// Launching a kernel of an embedded module.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/kernel.hpp"

namespace rung::gpu {

Status Call::launch_raw(std::string_view module, std::string_view function, const Launch& shape,
                        void** parameters) const {
  RUNG_TRY(Function loaded, gpu.function(module, function, shape.shared_bytes));
  return gpu.check(gpu.runtime().launch(loaded, shape, parameters, stream), function);
}

}  // namespace rung::gpu
