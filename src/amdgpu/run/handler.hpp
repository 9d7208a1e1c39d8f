// A handler executes one kind of instruction on a wave.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "amdgpu/isa/instruction.hpp"

namespace rung::amdgpu {

struct Wave;  // wave.hpp
using Handler = void (*)(Wave&, const Instruction&);

}  // namespace rung::amdgpu
