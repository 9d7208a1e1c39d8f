// Finds the handler that executes an instruction of arithmetic, moves between lanes, or control.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/run/alu/alu.hpp"

#include "amdgpu/run/alu/handlers.hpp"

namespace rung::amdgpu {

Handler alu_handler(const Instruction& instruction, Isa) {
  constexpr Handler (*kFamilies[])(const Instruction&) = {scalar_handler, control_handler, index_handler, move_handler,
                                                          vector_handler};
  for (const auto family : kFamilies)
    if (const Handler handler = family(instruction)) return handler;
  return nullptr;
}

}  // namespace rung::amdgpu
