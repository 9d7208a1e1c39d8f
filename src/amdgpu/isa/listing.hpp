// A kernel's instructions in order, each with its place, read from machine code or from an assembler's text.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "amdgpu/isa/instruction.hpp"
#include "amdgpu/isa/target.hpp"

namespace rung::amdgpu {

struct Placed {
  uint64_t offset = 0;  // from the kernel's first instruction, in bytes
  Instruction instruction;
  // Every field is filled. Text may have modifiers of arithmetic that are not read; what it computes is unknown then.
  bool whole = true;
};

struct Listing {
  Target target{};
  std::vector<Placed> instructions;
  uint32_t undecoded = 0;  // words or lines that are no instruction
  uint64_t bytes = 0;      // of code; 0: text that does not say
};

// Lists code; words that do not decode are skipped and counted.
Listing list_code(std::span<const std::byte> code, Target target);

// Where a branch of a listing goes, from the kernel's first instruction; negative: nowhere in it, or no branch.
int64_t goal_of(const Placed& placed);
// Whether what follows the instruction is reached by it only as another branch's goal.
bool ends_path(const Instruction& instruction);

}  // namespace rung::amdgpu
