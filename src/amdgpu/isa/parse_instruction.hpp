// One line of an assembler's text to an instruction: what is asked of code that is only read.
// SPDX-License-Identifier: Apache-2.0
// Source: "Syntax of AMDGPU Instruction Operands" and "... Modifiers" in LLVM's documentation.
#pragma once
#include <optional>
#include <string_view>

#include "amdgpu/isa/listing.hpp"

namespace rung::amdgpu {

struct ParsedInstruction {
  Instruction instruction;
  bool whole = true;      // as Placed::whole
  std::string_view goal;  // of a branch to a label; else empty, and the immediate is the number as it stands
};

// `line` without its comment and without space around it, in the spelling of llvm-objdump or of clang -S. Nothing: it
// is no instruction that is known, or its operands are not those of one. Opcode, encoding, operands, offsets of memory
// and what a wait is for are as decode() has them; other modifiers are not read.
std::optional<ParsedInstruction> parse_instruction(std::string_view line);

}  // namespace rung::amdgpu
