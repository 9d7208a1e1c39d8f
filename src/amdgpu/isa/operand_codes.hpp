// Turns an operand's number in machine code into an InstructionOperand: registers, inline constants, the literal.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>

#include "amdgpu/isa/opcode_rows.hpp"

namespace rung::amdgpu {

inline constexpr uint32_t kSdwaCode = 249, kDppCode = 250, kLiteralCode = 255, kFirstVgpr = 256;

// Returns whether that many vector registers can begin at `number`: several begin at even ones.
bool fits(uint32_t number, uint32_t registers);
InstructionOperand vector_register(uint32_t number, const Spec& spec, bool accumulator);

// Registers that take both halves of a pair begin at even numbers, fours at multiples of four.
std::optional<InstructionOperand> scalar_register(uint32_t number, const Spec& spec);

// `code` has 8 or 9 bits; `literal` is the word behind the instruction. Returns nothing if no operand has this code.
std::optional<InstructionOperand> source_operand(uint32_t code, const Spec& spec, std::optional<uint32_t> literal);

InstructionOperand literal_operand(uint32_t word, Type type);

}  // namespace rung::amdgpu
