// Pieces of an instruction's text. Internal to text*.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "amdgpu/isa/instruction.hpp"
#include "amdgpu/isa/opcode_rows.hpp"

namespace rung::amdgpu {

std::string hex(uint64_t value);           // "0x1f"
std::string small_or_hex(uint32_t value);  // decimal if it could be an inline constant
// Writes a register, several or a constant, with its negation and absolute value.
std::string operand_text(const InstructionOperand& operand);
std::string register_text(const InstructionOperand& operand);
std::string vector_modifiers(const Instruction& instruction, const Row& row, Isa isa);
std::string memory_operands(const Instruction& instruction, const Row& row);
std::string memory_modifiers(const Instruction& instruction, const Row& row, Isa isa);
// Writes the immediate of SOPP and SOPK, whose 16 bits mean something else in each.
std::string scalar_immediate(const Instruction& instruction, Isa isa);

}  // namespace rung::amdgpu
