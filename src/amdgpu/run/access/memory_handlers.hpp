// Handlers of the instructions that read and write memory or wait for it, and of the matrix instructions.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "amdgpu/isa/isa.hpp"
#include "amdgpu/run/handler.hpp"

namespace rung::amdgpu {

// Returns null if the instruction is not of these kinds, or is not executed here.
Handler memory_handler(const Instruction& instruction, Isa isa);
Handler matrix_handler(const Instruction& instruction, Isa isa);

}  // namespace rung::amdgpu
