// Reads one line of an assembler's text into an instruction, as far as reading code without running it needs.
// SPDX-License-Identifier: Apache-2.0
// Source: "Syntax of AMDGPU Instruction Operands" and "... Modifiers" in LLVM's documentation.
#pragma once
#include <optional>
#include <string_view>

#include "amdgpu/isa/listing.hpp"

namespace rung::amdgpu {

struct ParsedInstruction {
  Instruction instruction;
  bool whole = true;      // see Placed::whole
  std::string_view goal;  // a branch's label; empty: none, and the immediate is the number as written
};

// Parses `line`, without comment and space around it, in the spelling of llvm-objdump or of clang -S. Returns nothing
// if the instruction is not known, or its operands do not fit. Opcode, encoding, operands, offsets of memory and the
// counts of a wait are the same as from decode(); other modifiers are not read.
std::optional<ParsedInstruction> parse_instruction(std::string_view line);

}  // namespace rung::amdgpu
