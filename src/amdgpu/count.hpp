// How often each instruction was executed, as counts by class.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>

#include "amdgpu/execute.hpp"
#include "amdgpu/instruction.hpp"

namespace rung::amdgpu {

class DecodedCode;  // program.hpp

enum class OperationClass : uint8_t {
  vector,  // lanes exchanged through LDS hardware included
  scalar,  // scalar loads included
  matrix,
  branch,
  wait,
  barrier,
  global_load,  // buffer and flat ones included
  global_store,
  lds_read,
  lds_write,
  atomic,  // of memory and of LDS
  scratch,
};
OperationClass class_of(const Instruction& instruction);

// Adds `executed`, by the index in the code, to `counts`.
void count_classes(const DecodedCode& code, std::span<const uint64_t> executed, Counts& counts);

}  // namespace rung::amdgpu
