// Turns machine code into instructions, and instructions into the assembler's text.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "amdgpu/isa/instruction.hpp"
#include "amdgpu/isa/isa.hpp"

namespace rung::amdgpu {

// Returns the instruction at the front of `code`; nothing if `isa` has no such instruction or `code` ends within it.
std::optional<Instruction> decode(std::span<const std::byte> code, Isa isa);

// Writes an instruction as llvm-objdump does, without the address: "v_add_f32_e32 v1, v2, v3". `isa` decides between
// spellings (glc on gfx90a, sc0 later). Branch targets are written as the plain simm16.
std::string to_text(const Instruction& instruction, Isa isa);

std::string_view name_of(Opcode opcode);
// Returns the encoding's suffix as objdump writes it: "_e32", "_e64", "_sdwa", "_dpp" or "".
std::string_view suffix_of(const Instruction& instruction);

}  // namespace rung::amdgpu
