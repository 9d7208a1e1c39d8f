// A kernel's instructions in order, each with its place, read from machine code or from an assembler's text.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "amdgpu/isa/instruction.hpp"
#include "amdgpu/isa/isa.hpp"

namespace rung::amdgpu {

struct Placed {
  uint64_t offset = 0;  // from the kernel's first instruction, in bytes
  Instruction instruction;
  // True: every field is filled. False: the text may have modifiers that are not read, so its result is unknown.
  bool whole = true;
};

struct Listing {
  Isa isa{};
  std::vector<Placed> instructions;
  uint32_t undecoded = 0;  // words or lines that are no instruction
  uint64_t bytes = 0;      // of code; 0: the listing is text that does not say
};

// Lists code; skips and counts words that do not decode.
Listing list_code(std::span<const std::byte> code, Isa isa);

// Returns a branch's goal in bytes from the kernel's first instruction; negative: it is before that, or no branch.
int64_t goal_of(const Placed& placed);
// Returns whether the instruction never falls through to the next one.
bool ends_path(const Instruction& instruction);

}  // namespace rung::amdgpu
