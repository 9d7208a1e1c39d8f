// Asks the families of memory instructions in turn for the handler of an instruction.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/run/access/memory_handlers.hpp"

#include "amdgpu/run/access/vector_memory.hpp"

namespace rung::amdgpu {

Handler memory_handler(const Instruction& instruction, Isa isa) {
  switch (instruction.encoding) {
    case Encoding::smem:
      return scalar_memory_handler(instruction);
    case Encoding::sopp:
      return wait_handler(instruction);
    case Encoding::ds: {
      if (const Handler handler = local_handler(instruction)) return handler;
      if (const Handler handler = local_lanes_handler(instruction)) return handler;
      return local_atomic_handler(instruction);
    }
    case Encoding::flat:
    case Encoding::global:
    case Encoding::scratch: {
      if (instruction.memory.lds) return direct_handler(instruction);
      const Handler handler = flat_handler(instruction);
      return handler != nullptr ? handler : atomic_handler(instruction);
    }
    case Encoding::mubuf: {
      const Handler handler = wait_handler(instruction);
      return handler != nullptr ? handler : buffer_handler(instruction, isa);
    }
    default:
      return nullptr;
  }
}

}  // namespace rung::amdgpu
