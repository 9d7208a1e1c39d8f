// Handlers of the instructions that read and write memory or wait for it, and of the matrix instructions.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "amdgpu/isa/target.hpp"
#include "amdgpu/run/handler.hpp"

namespace rung::amdgpu {

// Returns null if the instruction is not of these kinds, or is not executed here.
Handler memory_handler(const Instruction& instruction, Target target);
Handler matrix_handler(const Instruction& instruction, Target target);

}  // namespace rung::amdgpu
